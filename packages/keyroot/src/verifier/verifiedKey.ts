import type { KeyrootError } from "../errors.ts";
import type { Evidence } from "../evidence.ts";
import type { UserID } from "../identity/userID.ts";
import type { CachedAnswer } from "./equivocation.ts";
import type { VerifiedRecord } from "./verdict.ts";

/** A verified public key, the contract in which it is published, and the evidence. */
export interface VerifiedKey extends VerifiedRecord {
  /** The root that the contract stores for the user, 64 lowercase hex digits. */
  root: string;
  /**
   * The number of the block in which the root was added. It is at most the number of the evidence's block. Do not rely
   * on it, because the endpoints report this number without proof, even if the root itself is proven.
   */
  blockNumber: number;
  contract: string;
  chainId: number;
  /**
   * The evidence with which the chain confirmed the key. If `cached` is set, the evidence dates from the time
   * `cached.checkedAt`.
   */
  evidence: Evidence;
  /**
   * The age of the answer, if it comes from the verifier's cache. Undefined if the chain confirmed the key during this
   * call.
   */
  cached?: CachedVerification | undefined;
  /** In the result of `verify`, an earlier answer from the cache that differs, as in an outcome of `verifyMany`. */
  contradicts?: CachedAnswer | undefined;
  /** The user's account, for a verifier with the `accounts` option. `record` is the record of the key's slot. */
  account?: VerifiedAccount | undefined;
}

/** The age of a verified key from the cache. */
export interface CachedVerification {
  /** The time at which the chain confirmed the key, in ms since 1970. */
  checkedAt: number;
  /** The time since then in ms. */
  ageMs: number;
  /**
   * The reason why the chain could not be read now. Undefined if the chain did not have to be read, because the stored
   * root is from a finalized block and cannot change.
   */
  offline?: KeyrootError | undefined;
}

/** The account of a verified key. */
export interface VerifiedAccount {
  /** The account id, which stays the same when the user changes the key. */
  userID: UserID;
  /** The number of the key: 0 for the account's first key. A change of the key increases it. */
  number: number;
  /**
   * The number of the key in the verifier's cache, if the user has changed the key since it was stored. If this field
   * is set, tell the app's user that the contact's key has changed.
   */
  changedFrom?: number | undefined;
}
