import type { AddedRootEvent } from "../chain/registry.ts";

/** Options for sending transactions, and for the wait until transactions are in a block. */
export interface SendOptions {
  /**
   * The maximum number of pending transactions. If a node accepts fewer from one account, the rest is sent later.
   * Default: 64. With 64 users each, this is more than a block of 60 million gas can include.
   */
  inFlight: number;
  /** The maximum wei per unit of gas. Default: ten times the price when the first transaction is sent. */
  maxFeePerGas: bigint | undefined;
  /** The maximum wei per unit of gas for a block's producer. Default: `maxFeePerGas`. */
  maxPriorityFeePerGas: bigint | undefined;
  /** Adds access lists to transactions (EIP-2930). Default: false. */
  accessList: boolean;
  /**
   * The time in ms after which a transaction that is not in a block is sent again. If blocks were made in the meantime,
   * it is sent with higher fees. Default: 60,000.
   */
  stuckAfterMs: number;
  /** The maximum time to wait without any progress, in ms. Default: 600,000. */
  timeoutMs: number;
  /** The interval between two polls of the chain, in ms. Default: 250. */
  pollMs: number;
}

export const DEFAULT_SEND_OPTIONS: SendOptions = {
  inFlight: 64,
  maxFeePerGas: undefined,
  maxPriorityFeePerGas: undefined,
  accessList: false,
  stuckAfterMs: 60_000,
  timeoutMs: 600_000,
  pollMs: 250,
};

/** The time in ms after which a transaction is sent again if no node has confirmed it. */
export const RESEND_UNCONFIRMED_MS = 2_000;

/** An event of a transaction. Roots are 64 lowercase hex digits. */
export type TransactionEvent =
  /**
   * A transaction was sent for the first time (`sent`) or again (`replaced`). It is replaced with the same nonce, or
   * with a lower one to close a gap. `hash` is undefined if the node did not confirm the transaction. `maxFee` is in
   * wei.
   */
  | { event: "sent" | "replaced"; root: string; nonce: number; hash: string | undefined; gas: number; maxFee: string }
  /**
   * The transaction is in a block. If all users of the batch already had roots, the transaction emitted no event, and
   * `added` is undefined.
   */
  | { event: "included"; root: string; nonce: number; added: AddedRootEvent | undefined }
  /**
   * The transaction is not on the chain. With `reorganized`, its block was removed from the chain. With `displaced`,
   * another transaction used its nonce.
   */
  | { event: "reorganized" | "displaced"; root: string; nonce: number }
  /** The transaction was reverted. It has used its nonce, and its batch gets another one. */
  | { event: "reverted"; root: string; nonce: number; hash: string; blockNumber: number; gasUsed: number }
  | { event: "waiting"; reason: string };
