/**
 * The source of the block hash that an answer refers to:
 * - `endpoint`: one endpoint reported it;
 * - `quorum`: several endpoints agree on it;
 * - `pinned`: the caller supplied it;
 * - `light-client`: one endpoint reported it, and the caller declared this endpoint to be a light client that verifies
 *   block hashes, such as Helios or Colibri;
 * - `auditors`: auditors that the caller trusts signed it;
 * - `beacon`: two thirds of Ethereum's sync committee signed it, as this library verified from a trusted checkpoint.
 */
export type Anchor = "endpoint" | "quorum" | "pinned" | "light-client" | "auditors" | "beacon";

/** The evidence of the anchor `beacon`. */
export interface BeaconEvidence {
  /** The root of the trusted beacon block: 0x and 64 lowercase hex digits. */
  checkpoint: string;
  /** The slot of the finalized header that contains the block. */
  slot: number;
  /** The number of members of the sync committee, of 512, that signed it. 0 if it is the checkpoint itself. */
  participation: number;
  /** The maximum age of the checkpoint in ms, if the caller set one instead of the default. */
  maxCheckpointAgeMs?: number;
}

/** The evidence for a verified key, or for the absence of one. */
export interface Evidence {
  anchor: Anchor;
  /**
   * Whether a storage proof under the block's state root supports the contract's answer. If false, the answer is a claim
   * of the endpoint, or of the endpoints of the quorum. With the anchor `endpoint`, a storage proof is no stronger than
   * the endpoint's claim.
   */
  storageProof: boolean;
  /** The block at which the contract was read. Undefined if one endpoint's latest state was enough. */
  block?: { hash: string; number: number; timestamp: number } | undefined;
  /** For the anchor `quorum`, the number of endpoints that agreed: at least the requested number. */
  agreeing?: number | undefined;
  /** The keys of the auditors that signed the statement, with the anchor `auditors`. At least the required number. */
  auditors?: readonly string[] | undefined;
  /**
   * The check that the user has one record under the root. `checked`: the verifier read the whole file. `auditors`: the
   * auditors of the statement read it (option `proofs`). Undefined without a record.
   */
  uniqueness?: "checked" | "auditors" | undefined;
  /** Set for the anchor `beacon`. */
  beacon?: BeaconEvidence | undefined;
}
