import type { AddedRootEvent } from "../chain/registry.ts";

/** Options for sending transactions and waiting for them. */
export interface SendOptions {
  /** Maximum number of pending transactions. Default 8. */
  inFlight: number;
  /** Maximum wei per unit of gas. Undefined: ten times the price when the first transaction is sent. */
  maxFeePerGas: bigint | undefined;
  /** Maximum wei per unit of gas for a block's producer. Undefined: `maxFeePerGas`. */
  maxPriorityFeePerGas: bigint | undefined;
  /** Access lists in transactions (EIP-2930). Default false. */
  accessList: boolean;
  /**
   * Time in ms after which a transaction that is in no block is sent again, with higher fees if blocks were made without it.
   * Default 60,000.
   */
  stuckAfterMs: number;
  /** Maximum wait without any progress, in ms. Default 600,000. */
  timeoutMs: number;
  /** Interval between two polls of the chain, in ms. Default 250. */
  pollMs: number;
}

export const DEFAULT_SEND_OPTIONS: SendOptions = {
  inFlight: 8,
  maxFeePerGas: undefined,
  maxPriorityFeePerGas: undefined,
  accessList: false,
  stuckAfterMs: 60_000,
  timeoutMs: 600_000,
  pollMs: 250,
};

/** An event of a transaction. Roots are 64 lowercase hex digits. */
export type TransactionEvent =
  /** `replaced`: sent again under the same nonce. `hash` is undefined if the node did not confirm it. `maxFee` is in wei. */
  | { event: "sent" | "replaced"; root: string; nonce: number; hash: string | undefined; gas: number; maxFee: string }
  /** The transaction is in a block. `added` is undefined if all its users have roots without such an event. */
  | { event: "included"; root: string; nonce: number; added: AddedRootEvent | undefined }
  /** `reorganized`: its block is gone. `displaced`: another transaction used its nonce. */
  | { event: "reorganized" | "displaced"; root: string; nonce: number }
  | { event: "waiting"; reason: string };
