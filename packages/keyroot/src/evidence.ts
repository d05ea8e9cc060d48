/**
 * The source of the block hash behind an answer:
 * - `endpoint`: one endpoint reported the hash;
 * - `quorum`: several endpoints agree on the hash;
 * - `pinned`: the caller supplied the hash;
 * - `light-client`: one endpoint reported the hash. The caller declared that this endpoint is a light client that
 *   verifies block hashes, such as Helios or Colibri;
 * - `auditors`: auditors that the caller trusts signed the hash;
 * - `beacon`: two thirds of Ethereum's sync committee signed the hash. The library verified their signature from a
 *   trusted checkpoint.
 */
export type Anchor = "endpoint" | "quorum" | "pinned" | "light-client" | "auditors" | "beacon";

/** The additional evidence of the anchor `beacon`. */
export interface BeaconEvidence {
  /** The root of the trusted beacon block: 0x and 64 lowercase hex digits. */
  checkpoint: string;
  /** The slot of the finalized header that contains the block. */
  slot: number;
  /**
   * The number of sync committee members who signed the header, at most 512. It is 0 if the header is the checkpoint
   * itself.
   */
  participation: number;
  /** The maximum age of the checkpoint in ms, if the caller changed the default. */
  maxCheckpointAgeMs?: number;
}

/** The evidence for a verified key, or for the absence of a key. */
export interface Evidence {
  anchor: Anchor;
  /**
   * True if a storage proof against the block's state root confirms the contract's answer. If it is false, the answer
   * is an unproven claim of the endpoint or the quorum. With the anchor `endpoint`, a storage proof is only as strong
   * as such a claim.
   */
  storageProof: boolean;
  /** The block at which the contract was read. Undefined if the latest state of one endpoint was enough. */
  block?: { hash: string; number: number; timestamp: number } | undefined;
  /** The number of endpoints that agreed, for the anchor `quorum`. It is at least the requested number. */
  agreeing?: number | undefined;
  /**
   * The keys of the auditors who signed the statement, for the anchor `auditors`. Their number is at least the required
   * number.
   */
  auditors?: readonly string[] | undefined;
  /**
   * The check that the user has only one record in the tree. `checked` means that the verifier read the whole file.
   * `auditors` means that the `proofs` option was set, and the statement's auditors read the file. Undefined if no
   * record was verified.
   */
  uniqueness?: "checked" | "auditors" | undefined;
  /** Details about the light client, for the anchor `beacon`. */
  beacon?: BeaconEvidence | undefined;
}
