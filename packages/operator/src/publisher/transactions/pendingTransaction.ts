import type { AddRootCall, RootBatch } from "../chain/registry.ts";
import type { Attempt } from "../journal/journal.ts";
import type { SendResult } from "./trySend.ts";

/** A batch with a transaction that is not in a block yet. */
export interface PendingTransaction extends Pick<SendResult, "accepted" | "isRejected" | "isUnderpriced"> {
  batch: RootBatch;
  /** The call of the transaction. It is built on demand, and deleted when the transaction is in a block. */
  call?: AddRootCall | undefined;
  attempt: Attempt;
  hashes: string[];
  /**
   * The time at which this run last sent the transaction. Undefined if the transaction must be sent now, because nodes
   * may not have it.
   */
  sentAt: number | undefined;
  /** The number of the newest block at the time when the transaction was last sent. */
  sentAtBlock: number;
  /** True if the nonce is used and the batch is on the chain. */
  included: boolean;
  /** The number of checks that found the nonce used, but no receipt. */
  missingReceipts: number;
  /** The gas limit with which this run sent the transaction. 0 if only an earlier run has sent it. */
  sentGas: number;
}

/** Creates the entry for a transaction that this run has not sent. */
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
    sentGas: 0,
  };
}

/**
 * Restores the transactions of batches from the journal, by nonce. If there are several attempts with one nonce, the
 * latest attempt is restored. If its nonce is already used, this attempt may have added the root.
 * @param owner the account that signs
 * @param usedNonces the number of the owner's transactions in blocks
 */
export function restoreTransactions(
  batches: readonly RootBatch[],
  attempts: readonly Attempt[],
  owner: string,
  usedNonces: number,
): Map<number, PendingTransaction> {
  const transactions = new Map<number, PendingTransaction>();
  const byRoot = new Map(batches.map((batch) => [batch.root, batch]));
  const current = owner.toLowerCase();
  for (const attempt of attempts) {
    const batch = byRoot.get(attempt.root);
    // Skip attempts of an earlier owner. Their nonces belong to another account, which can no longer add roots.
    if (batch === undefined || (attempt.sender ?? current) !== current) continue;
    const known = transactions.get(attempt.nonce);
    const hashes = known?.batch === batch ? known.hashes : [];
    if (attempt.hash !== undefined) hashes.push(attempt.hash);
    const transaction = { ...newTransaction(batch, attempt), hashes };
    // The nonce is used. Do not send this transaction before the chain shows which transaction used the nonce.
    if (attempt.nonce < usedNonces) transaction.sentAt = performance.now();
    transactions.set(attempt.nonce, transaction);
  }
  return transactions;
}
