import { ArgumentError } from "../errors.ts";
import type { Evidence } from "../evidence.ts";
import type { ExpectedBytes } from "../identity/expectedKey.ts";
import type { KeyRecord } from "../identity/keyRecord.ts";
import type { UserID } from "../identity/userID.ts";
import type { BlockRequest, BlockSource } from "./blockSource.ts";

/** A source that apps import separately, because its code is large: `keyroot/auditors`, `keyroot/beacon`. */
export type AddedSourceName = "auditors" | "beacon";

/** A source that an option of a verifier describes. */
export interface AddedSource {
  name: AddedSourceName;
  find: BlockSource;
  /** Whether the source would accept this evidence now. The evidence has the source's name as its anchor. */
  accepts: (evidence: Evidence) => boolean | Promise<boolean>;
  /** Verifies keys with short proofs, if the option `proofs` requests it. */
  proveKey?: KeyProof | undefined;
}

/**
 * Verifies a user's key without the whole file. Returns undefined without a valid proof, and never a weaker verdict: the
 * whole file then shows the key.
 * @throws TransportError ABORTED
 */
export type KeyProof = (
  query: { userID: UserID; expectedPublicKey: ExpectedBytes; contract: string },
  sources: Pick<BlockRequest, "calls" | "http">,
  now: () => number,
) => Promise<AuditedKey | undefined>;

/** A key that auditors' statement and a leaf chunk prove. */
export interface AuditedKey {
  record: KeyRecord;
  /** The position of the record in the file's `values`. */
  index: number;
  /** 105 bytes. */
  publicKey: Uint8Array;
  /** 64 lowercase hex digits. */
  root: string;
  /** The endpoint's unproven answer. */
  blockNumber: number;
  evidence: Evidence;
}

/** The contract that a verifier reads, and the options that sources use. */
export interface SourcePlace {
  chainId: number | bigint;
  /** 0x and 40 hex digits. */
  contract: string;
  /** Whether plain http to other machines is allowed. */
  allowHttp?: boolean | undefined;
  merkleUrl?: string;
  proofs?: boolean | undefined;
  codeHash?: string | undefined;
  storageProof?: boolean | undefined;
  maxAgeMs?: number | undefined;
  /** The bundle to verify. Its statement replaces all requests. */
  bundle?: { statement?: string | undefined };
}

/** Checks the value of an option, and makes the source. @throws ArgumentError ARGUMENT_INVALID */
export type MakeSource = (option: unknown, place: SourcePlace) => AddedSource;

const added = new Map<AddedSourceName, MakeSource>();

/** Adds a source to all verifiers. Its entry calls this when it is imported. */
export function addSource(name: AddedSourceName, make: MakeSource): void {
  added.set(name, make);
}

/** Makes the source of an option. @throws ArgumentError SOURCE_NOT_IMPORTED, ARGUMENT_INVALID */
export function makeSource(name: AddedSourceName, option: unknown, place: SourcePlace): AddedSource {
  const make = added.get(name);
  if (make !== undefined) return make(option, place);
  throw new ArgumentError("SOURCE_NOT_IMPORTED", `The option ${name} needs import "keyroot/${name}".`);
}
