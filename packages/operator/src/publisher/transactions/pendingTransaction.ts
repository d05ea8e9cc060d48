import type { AddRootCall, RootBatch } from "../chain/registry.ts";
import type { Attempt } from "../journal/journal.ts";

/** A batch, and its transaction that waits for a block. */
export interface PendingTransaction {
  batch: RootBatch;
  /** The call of the transaction, built on demand and dropped once it is in a block. */
  call?: AddRootCall | undefined;
  attempt: Attempt;
  hashes: string[];
  /** A node's confirmation that it has the transaction. */
  accepted: boolean;
  /** Time of the last sending in this run. Undefined if it must be sent now, because possibly no node has it. */
  sentAt: number | undefined;
  /** Number of the newest block when the transaction was last sent. */
  sentAtBlock: number;
  /** True if the nonce is used and the batch is on the chain. */
  included: boolean;
  /** Number of checks that found the nonce used and no receipt. */
  missingReceipts: number;
}

/** A transaction that this run has not sent. */
export function newTransaction(batch: RootBatch, attempt: Attempt): PendingTransaction {
  return {
    batch,
    attempt,
    hashes: [],
    accepted: false,
    sentAt: undefined,
    sentAtBlock: -1,
    included: false,
    missingReceipts: 0,
  };
}
