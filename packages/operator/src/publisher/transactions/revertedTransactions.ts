/** The reverted transactions of a run. Such a transaction has used its nonce, so its batch needs another one. */
import { TransportError, VerificationError } from "../../errors.ts";
import type { Receipt } from "../chain/chain.ts";

/** How many transactions of one batch a run may send in vain. Each of them costs its gas. */
const MAX_REVERTED = 2;

/** Counts the reverted transactions per root, so that a run does not pay for the same failure again and again. */
export class RevertedTransactions {
  readonly #ofRoot = new Map<string, { receipt: Receipt; sent: number }>();

  /**
   * Records a reverted transaction.
   * @param isOfThisRun true if this run has sent the transaction. Transactions of earlier runs do not count toward the
   *   maximum, because the conditions may have changed since then
   * @throws VerificationError TRANSACTION_REVERTED at the second transaction of this run with the same root
   */
  record(root: string, receipt: Receipt, isOfThisRun: boolean): void {
    const sent = (this.#ofRoot.get(root)?.sent ?? 0) + (isOfThisRun ? 1 : 0);
    this.#ofRoot.set(root, { receipt, sent });
    if (sent < MAX_REVERTED) return;
    throw reverted(receipt, "It is not the first one for this root, although the endpoint's estimates succeeded.");
  }

  /**
   * Runs the gas estimate of a root's next transaction. If the estimate fails and the root's last transaction was
   * reverted, the error says so.
   * @throws VerificationError TRANSACTION_REVERTED, with the node's error as its cause, if the node rejects the call
   *   and the root's last transaction was reverted; the errors of `estimate`
   */
  async explain<T>(root: string, estimate: () => Promise<T>): Promise<T> {
    try {
      return await estimate();
    } catch (error) {
      const last = this.#ofRoot.get(root);
      if (last === undefined || !(error instanceof TransportError && error.code === "RPC_ERROR")) throw error;
      throw reverted(last.receipt, `Another one would fail, too. ${error.message}`, error);
    }
  }
}

function reverted({ transactionHash, blockNumber }: Receipt, reason: string, cause?: Error): VerificationError {
  const message =
    `The transaction ${transactionHash} in block ${blockNumber} was reverted. ${reason} Check that the account owns the ` +
    "registry, and that the endpoint is on the right chain. Then publish again.";
  return new VerificationError("root", "TRANSACTION_REVERTED", message, {
    actual: transactionHash,
    ...(cause && { cause }),
  });
}
