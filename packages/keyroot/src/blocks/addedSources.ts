import { ArgumentError } from "../errors.ts";
import type { Evidence } from "../evidence.ts";
import type { ExpectedBytes } from "../identity/compareKey.ts";
import type { KeyRecord } from "../identity/serializedRecord.ts";
import type { UserID } from "../identity/userID.ts";
import type { BlockRequest, BlockSource } from "./blockSource.ts";

/** The name of a block source that apps import separately. The source's code is large. */
export type AddedSourceName = "auditors" | "beacon";

/** A block source that an app added to the verifiers. */
export interface AddedSource {
  name: AddedSourceName;
  find: BlockSource;
  /**
   * Checks whether the source still accepts this evidence. The caller has checked that the evidence's anchor is the
   * source's name.
   */
  accepts: (evidence: Evidence) => boolean | Promise<boolean>;
  /** Verifies keys with short proofs. Undefined unless the `proofs` option is true. */
  proveKey?: KeyProof | undefined;
}

/**
 * Verifies a user's key with a short proof instead of the whole file. Returns undefined if there is no valid proof. The
 * verifier then reads the whole file. Short proofs give no weaker evidence.
 * @throws TransportError ABORTED
 */
export type KeyProof = (
  query: { userID: UserID; expectedPublicKey: ExpectedBytes; contract: string },
  sources: Pick<BlockRequest, "calls" | "http">,
  now: () => number,
) => Promise<AuditedKey | undefined>;

/** A key that an auditors' statement and a leaf chunk prove (docs/formats.md). */
export interface AuditedKey {
  record: KeyRecord;
  /** The index of the record in the file's `values` array. */
  index: number;
  /** The public key, 105 bytes. */
  publicKey: Uint8Array;
  /** The Merkle root, 64 lowercase hex digits. */
  root: string;
  /** The block number that the endpoint reports without proof. */
  blockNumber: number;
  evidence: Evidence;
}

/** The contract that a verifier reads, and the options of block sources. */
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
  /** The bundle to verify. The source reads the bundle's statement and sends no request. */
  bundle?: { statement?: string | undefined };
}

/** Checks the option's value, and makes the block source. @throws ArgumentError ARGUMENT_INVALID */
export type MakeSource = (option: unknown, place: SourcePlace) => AddedSource;

const added = new Map<AddedSourceName, MakeSource>();

/** Adds a block source to all verifiers. A source's entry calls this function when an app imports the entry. */
export function addSource(name: AddedSourceName, make: MakeSource): void {
  added.set(name, make);
}

/** Makes the block source that an option configures. @throws ArgumentError SOURCE_NOT_IMPORTED, ARGUMENT_INVALID */
export function makeSource(name: AddedSourceName, option: unknown, place: SourcePlace): AddedSource {
  const make = added.get(name);
  if (make !== undefined) return make(option, place);
  throw new ArgumentError("SOURCE_NOT_IMPORTED", `The ${name} option needs the import "keyroot/${name}".`);
}
