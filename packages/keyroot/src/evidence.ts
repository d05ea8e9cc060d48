/**
 * Where the hash of the block comes from that an answer is about:
 * - `endpoint`: one endpoint names it, and is believed;
 * - `quorum`: several endpoints agree on it;
 * - `pinned`: the caller gives it;
 * - `light-client`: the endpoint is one that the caller declares to check it, such as Helios or Colibri.
 */
export type Anchor = "endpoint" | "quorum" | "pinned" | "light-client";

/** What a verdict rests on. */
export interface Evidence {
  anchor: Anchor;
  /**
   * Whether the contract's answer is shown by a storage proof under the block's state root. Otherwise it is the word of
   * the endpoint, or of the endpoints of the quorum. A proof under a header that one endpoint named is worth its word.
   */
  storageProof: boolean;
  /** The block that the contract was asked at; undefined where an endpoint's word for its newest one was enough. */
  block?: { hash: string; number: number; timestamp: number } | undefined;
  /** How many endpoints agree, with the anchor `quorum`: as many as were asked for, or more that were as quick. */
  agreeing?: number | undefined;
}
