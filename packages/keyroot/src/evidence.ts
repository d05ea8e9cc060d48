/**
 * The source of the block hash behind an answer:
 * - `endpoint`: one endpoint reported the hash;
 * - `quorum`: several endpoints agree on the hash;
 * - `pinned`: the caller supplied the hash;
 * - `light-client`: one endpoint reported the hash. The caller declared that this endpoint is a light client that
 *   verifies block hashes, such as Helios or Colibri;
 * - `auditors`: auditors that the caller trusts signed the hash;
 * - `beacon`: two thirds of Ethereum's sync committee signed the hash. Starting from a trusted checkpoint, the library
 *   verified the committee's signature.
 */
export type Anchor = "endpoint" | "quorum" | "pinned" | "light-client" | "auditors" | "beacon";

/** The additional evidence of the anchor `beacon`. */
export interface BeaconEvidence {
  /** The root of the trusted beacon block: 0x and 64 lowercase hex digits. */
  checkpoint: string;
  /** The slot of the finalized header that contains the block. */
  slot: number;
  /**
   * The number of sync committee members who signed the header, at most 512. The number is 0 if the header is the
   * checkpoint itself.
   */
  participation: number;
  /** The maximum age of the checkpoint in ms, if the caller changed the default. */
  maxCheckpointAgeMs?: number;
}

/** The evidence for a verified key, or for the absence of a key. */
export interface Evidence {
  anchor: Anchor;
  /**
   * True if a storage proof against the block's state root confirms the contract's answer. If this field is false, the
   * answer is an unproven claim of the endpoint or the quorum. With the anchor `endpoint`, the block is an unproven
   * claim. A storage proof is then not stronger than the endpoint's answer.
   */
  storageProof: boolean;
  /** The block at which the contract was read. Undefined if the latest state of one endpoint was enough. */
  block?: { hash: string; number: number; timestamp: number } | undefined;
  /**
   * The number of endpoints that agreed, for the anchor `quorum`. This number is at least the value of the `quorum`
   * option.
   */
  agreeing?: number | undefined;
  /**
   * The keys of the auditors who signed the statement, for the anchor `auditors`. The list has at least `threshold`
   * keys.
   */
  auditors?: readonly string[] | undefined;
  /**
   * The codes of the damage that the auditors found in the user's root (docs/auditing.md). Undefined if the auditors'
   * statement does not list the root as damaged.
   */
  damage?: readonly string[] | undefined;
  /**
   * `checked` means that the verifier read the whole file, so the user has only one record in the tree. Undefined if no
   * record was verified.
   */
  uniqueness?: "checked" | undefined;
  /** Details about the light client, for the anchor `beacon`. */
  beacon?: BeaconEvidence | undefined;
}
