/** The facts behind a block's hash that only its source knows. */
export interface EvidenceDetails {
  /** The number of endpoints that agreed, for `endpoints`. It is at least the number that the choice requires. */
  agreeing?: number | undefined;
  /** The keys of the auditors who signed the statement, for `auditors`: at least as many as the choice requires. */
  auditors?: readonly string[] | undefined;
  /** The root of the trusted beacon block, for `light-client`: 0x and 64 lowercase hex digits. */
  checkpoint?: string | undefined;
  /** The slot of the finalized header that contains the block, for `light-client`. */
  slot?: number | undefined;
  /**
   * For `light-client`, the number of sync committee members who signed the header, at most 512. It is 0 if the header
   * is the checkpoint itself.
   */
  participation?: number | undefined;
  /** The maximum age of the checkpoint in ms, for `light-client`, if the caller changed the default. */
  maxCheckpointAgeMs?: number | undefined;
}

/**
 * The evidence for a verified key, or for the fact that a user has no key. It has the same fields for every source of
 * blocks.
 */
export interface Evidence {
  /** The source of the block, as the `trust` option chose it. */
  source: "one-endpoint" | "endpoints" | "own-node" | "pinned-block" | "light-client" | "auditors";
  /** The facts behind the block's hash that only this source knows. */
  details?: EvidenceDetails | undefined;
  /**
   * The block at which the contract was read, with its timestamp in seconds since 1970. Undefined if the latest answer
   * of one endpoint was enough, which only `oneEndpoint()` without options allows.
   */
  block?: { hash: string; number: number; timestamp: number } | undefined;
  /**
   * True if a storage proof confirms the contract's answer under the block's state root. If it is false, the answer is
   * an unproven claim of one endpoint, or of several endpoints that agree.
   */
  storageProof: boolean;
  /**
   * The codes of the damage that auditors found in the tree with the user's root (docs/auditing.md). Undefined if the
   * auditors' statement does not list this root as damaged.
   */
  damage?: readonly string[] | undefined;
  /**
   * The value is `checked` if the verifier read the whole file and found exactly one record of the user. Undefined if
   * no record was verified.
   */
  uniqueness?: "checked" | undefined;
}
