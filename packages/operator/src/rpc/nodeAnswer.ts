/**
 * The reaction to an unsuccessful answer:
 * - `repeat`: send the same request again, after a delay;
 * - `narrow`: ask for the logs of fewer blocks;
 * - `known`: nothing, because the node already has the sent transaction or another one with its nonce;
 * - `wait`: read the chain, which shows what becomes of the sent transaction;
 * - `end`: report the answer, because the same request would fail again.
 */
type Reaction = "repeat" | "narrow" | "known" | "wait" | "end";

/**
 * The meaning of an answer, for callers that react in their own way:
 * - `block unknown`: the node does not have the block yet;
 * - `state pruned`: the node has deleted the state of the block;
 * - `history pruned`: the node has deleted old blocks with their receipts and logs (EIP-4444);
 * - `no block hash`: the node accepts no block hash as a parameter (EIP-1898);
 * - `same nonce`: the node keeps another transaction of the sender with the same nonce;
 * - `fee cap`: the transaction could cost more than the node's operator allows;
 * - `oversized`: the transaction has more bytes than the node accepts.
 */
export type Meaning =
  | "block unknown"
  | "state pruned"
  | "history pruned"
  | "no block hash"
  | "same nonce"
  | "fee too low"
  | "fee cap"
  | "no funds"
  | "oversized";

/**
 * An unsuccessful answer of a node or provider, and the reaction to it. The entry applies if all of its conditions are
 * met.
 */
export interface NodeAnswer {
  reaction: Reaction;
  means?: Meaning;
  /** The codes of Keyroot's error. Default: RPC_ERROR. */
  error?: readonly string[];
  /** The HTTP statuses. Default: any. */
  status?: readonly number[];
  /** The codes of the JSON-RPC error. Default: any. */
  code?: readonly number[];
  /** Matches the message of the JSON-RPC error. Default: any. */
  message?: RegExp;
  /** True for an error of a provider (EIP-1193) that has no code. */
  withoutCode?: true;
  /** What the user can do about the answer: whole sentences. */
  remedy?: string;
  /** Who answers like this, and where this is documented or reported. */
  source: string;
}
