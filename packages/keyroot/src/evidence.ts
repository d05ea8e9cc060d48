/**
 * The source of the block hash on which an answer is based:
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

/** The evidence that the anchor `beacon` adds. */
export interface BeaconEvidence {
  /** The root of the trusted beacon block: 0x and 64 lowercase hex digits. */
  checkpoint: string;
  /** The slot of the finalized header that contains the block. */
  slot: number;
  /** The number of sync committee members, of 512, who signed the header. 0 if the header is the checkpoint itself. */
  participation: number;
  /** The maximum age of the checkpoint in ms, if the caller changed the default. */
  maxCheckpointAgeMs?: number;
}

/** The evidence for a verified key, or for the absence of one. */
export interface Evidence {
  anchor: Anchor;
  /**
   * True if a storage proof against the block's state root confirms the contract's answer. If false, the answer is an
   * unproven claim of the endpoint, or of the quorum's endpoints. With the anchor `endpoint`, a storage proof is no
   * stronger than such a claim.
   */
  storageProof: boolean;
  /** The block at which the contract was read. Undefined if the latest state of one endpoint was enough. */
  block?: { hash: string; number: number; timestamp: number } | undefined;
  /** For the anchor `quorum`, the number of endpoints that agreed. This is at least the requested number. */
  agreeing?: number | undefined;
  /** For the anchor `auditors`, the keys of the auditors who signed the statement: at least as many as required. */
  auditors?: readonly string[] | undefined;
  /**
   * Who checked that the user has only one record in the tree. `checked`: the verifier, which read the whole file.
   * `auditors`: the auditors of the statement, who read the file (option `proofs`). Undefined if no record was
   * verified.
   */
  uniqueness?: "checked" | "auditors" | undefined;
  /** Details about the light client, for the anchor `beacon`. */
  beacon?: BeaconEvidence | undefined;
}
