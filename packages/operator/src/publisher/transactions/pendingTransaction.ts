import type { AddRootCall, RootBatch } from "../chain/registry.ts";
import type { Attempt } from "../journal/journal.ts";

/** A batch with a transaction that is not in a block yet. */
export interface PendingTransaction {
  batch: RootBatch;
  /** The call of the transaction. The call is built on demand, and deleted when the transaction is in a block. */
  call?: AddRootCall | undefined;
  attempt: Attempt;
  hashes: string[];
  /** True if a node's response has confirmed that the node has the transaction. */
  accepted: boolean;
  /** True if the last response rejected the transaction for now. */
  isRejected: boolean;
  /** True if the last response rejected the transaction because it offers too little. */
  isUnderpriced: boolean;
  /**
   * The time at which this run last sent the transaction. Undefined if the transaction must be sent now, because
   * possibly no node has the transaction.
   */
  sentAt: number | undefined;
  /** The number of the newest block at the time when the transaction was last sent. */
  sentAtBlock: number;
  /** True if the nonce is used and the batch is on the chain. */
  included: boolean;
  /** The number of checks that found the nonce used, but no receipt. */
  missingReceipts: number;
}

/** Makes the entry for a transaction that this run has not sent. */
export function newTransaction(batch: RootBatch, attempt: Attempt): PendingTransaction {
  return {
    batch,
    attempt,
    hashes: [],
    accepted: false,
    isRejected: false,
    isUnderpriced: false,
    sentAt: undefined,
    sentAtBlock: -1,
    included: false,
    missingReceipts: 0,
  };
}
