import type { AddedRootEvent } from "../chain/registry.ts";

/** How transactions are sent and waited for. */
export interface SendOptions {
  /** The most transactions that may be pending at once. Default 8. */
  inFlight: number;
  /** The most wei per unit of gas. Undefined: ten times the price when the first transaction is sent. */
  maxFeePerGas: bigint | undefined;
  /** The most wei per unit of gas for a block's producer. Undefined: `maxFeePerGas`. */
  maxPriorityFeePerGas: bigint | undefined;
  /** Whether transactions have an access list (EIP-2930). Default false. */
  accessList: boolean;
  /**
   * After how many ms a transaction that is in no block is sent again, with higher fees if blocks were made without it.
   * Default 60,000.
   */
  stuckAfterMs: number;
  /** How long to wait while nothing changes, in ms. Default 600,000. */
  timeoutMs: number;
  /** How often to poll the chain, in ms. Default 250. */
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

/** What happened to a transaction. Roots are 64 lowercase hex digits. */
export type TransactionEvent =
  /** `replaced`: sent again under the same nonce. `hash` is undefined if the node did not confirm it. `maxFee` is in wei. */
  | { event: "sent" | "replaced"; root: string; nonce: number; hash: string | undefined; gas: number; maxFee: string }
  /** In a block. `added` is undefined if all its users have roots without such an event. */
  | { event: "included"; root: string; nonce: number; added: AddedRootEvent | undefined }
  /** `reorganised`: its block is gone. `displaced`: another transaction used its nonce. */
  | { event: "reorganised" | "displaced"; root: string; nonce: number }
  | { event: "waiting"; reason: string };
