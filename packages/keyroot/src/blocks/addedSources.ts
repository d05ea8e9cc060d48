import { ArgumentError } from "../errors.ts";
import type { Evidence } from "../evidence.ts";
import type { ExpectedBytes } from "../identity/compareKey.ts";
import type { KeyRecord } from "../identity/serializedRecord.ts";
import type { UserID } from "../identity/userID.ts";
import type { BlockRequest, BlockSource } from "./blockSource.ts";

/** The name of a block source that apps import separately because its code is large, such as `keyroot/auditors`. */
export type AddedSourceName = "auditors" | "beacon";

/** A block source that an app added to the verifiers. */
export interface AddedSource {
  name: AddedSourceName;
  find: BlockSource;
  /** Checks whether the source would still accept this evidence. The evidence's anchor is the name of the source. */
  accepts: (evidence: Evidence) => boolean | Promise<boolean>;
  /** Verifies keys with short proofs. Set only if the option `proofs` requests it. */
  proveKey?: KeyProof | undefined;
}

/**
 * Verifies a user's key with a short proof instead of the whole file. Returns undefined if there is no valid proof. In
 * this case, the verifier reads the whole file. The result is never based on weaker evidence.
 * @throws TransportError ABORTED
 */
export type KeyProof = (
  query: { userID: UserID; expectedPublicKey: ExpectedBytes; contract: string },
  sources: Pick<BlockRequest, "calls" | "http">,
  now: () => number,
) => Promise<AuditedKey | undefined>;

/** A key that is proven by a statement of auditors and a leaf chunk (docs/formats.md). */
export interface AuditedKey {
  record: KeyRecord;
  /** The index of the record in the array `values` of the file. */
  index: number;
  /** The public key, 105 bytes. */
  publicKey: Uint8Array;
  /** The Merkle root, 64 lowercase hex digits. */
  root: string;
  /** The number of the block, as the endpoint reports it without proof. */
  blockNumber: number;
  evidence: Evidence;
}

/** The contract that a verifier reads, and the options for block sources. */
export interface SourcePlace {
  chainId: number | bigint;
  /** The address of the contract: 0x and 40 hex digits. */
  contract: string;
  /** True to allow unencrypted http requests to other machines. */
  allowHttp?: boolean | undefined;
  merkleUrl?: string;
  proofs?: boolean | undefined;
  codeHash?: string | undefined;
  storageProof?: boolean | undefined;
  maxAgeMs?: number | undefined;
  /** The bundle to verify. Its statement replaces all network requests. */
  bundle?: { statement?: string | undefined };
}

/** Checks the value of an option, and makes the block source. @throws ArgumentError ARGUMENT_INVALID */
export type MakeSource = (option: unknown, place: SourcePlace) => AddedSource;

const added = new Map<AddedSourceName, MakeSource>();

/** Adds a block source to all verifiers. The source's entry calls this function when an app imports it. */
export function addSource(name: AddedSourceName, make: MakeSource): void {
  added.set(name, make);
}

/** Makes the block source that an option configures. @throws ArgumentError SOURCE_NOT_IMPORTED, ARGUMENT_INVALID */
export function makeSource(name: AddedSourceName, option: unknown, place: SourcePlace): AddedSource {
  const make = added.get(name);
  if (make !== undefined) return make(option, place);
  throw new ArgumentError("SOURCE_NOT_IMPORTED", `The option ${name} needs import "keyroot/${name}".`);
}
