/**
 * The source of the block hash that an answer refers to:
 * - `endpoint`: one endpoint reported it;
 * - `quorum`: several endpoints agree on it;
 * - `pinned`: the caller supplied it;
 * - `light-client`: one endpoint reported it, and the caller declared this endpoint to be a light client that verifies
 *   block hashes, such as Helios or Colibri.
 */
export type Anchor = "endpoint" | "quorum" | "pinned" | "light-client";

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
  /** The number of endpoints that agree, with the anchor `quorum`. At least the requested number. */
  agreeing?: number | undefined;
}
