/** The search for nonces that other transactions of the registry's owner have used. */
import type { AddedRootEvent, Registry } from "../chain/registry.ts";
import type { PendingTransaction } from "./pendingTransaction.ts";
import { findSignedTransaction, isSearchDue, MAX_MISSING_RECEIPTS } from "./signedTransaction.ts";

/**
 * The transaction that used a nonce: the batch's transaction, with its event if there is one, or a foreign transaction.
 * Only a foreign transaction signed by the owner proves that the batch's transaction was not included.
 */
export type NonceUser = { by: "batch"; added: AddedRootEvent | undefined } | { by: "foreign" };

/**
 * Finds out which transaction used the nonce of a batch.
 * @returns undefined if the chain does not show this transaction yet
 * @throws VerificationError TRANSACTION_REVERTED; TransportError the errors of `chain`
 */
export async function findNonceUser(
  transaction: PendingTransaction,
  registry: Registry,
): Promise<NonceUser | undefined> {
  const { batch, attempt } = transaction;
  const { root, userIDs } = batch;
  const added = (await findOwnReceipt(transaction, registry)) ?? (await registry.findAddedRoot(root));
  if (added !== undefined) return { by: "batch", added };
  const checks = ++transaction.missingReceipts;
  if (checks < MAX_MISSING_RECEIPTS) return undefined;
  const roots = await registry.getMerkleTreeRoots(userIDs);
  if (!roots.includes(undefined)) return { by: "batch", added: undefined };
  if (!isSearchDue(checks)) return undefined;
  const found = await findSignedTransaction(registry, attempt.nonce);
  if (found === undefined) return undefined;
  const { contract } = registry;
  const isOwn =
    found.to?.toLowerCase() === contract.toLowerCase() && found.data === registry.addRootCall(batch, false).data;
  if (!isOwn) return { by: "foreign" };
  // An earlier run sent this transaction and ended before it recorded the hash. The next check reads the transaction's
  // receipt.
  if (!transaction.hashes.includes(found.hash)) transaction.hashes.push(found.hash);
  return undefined;
}

/**
 * Returns true if no pending transaction has the next nonce. The nonce then belonged to another program's transaction,
 * which nodes have dropped.
 */
export async function isNextNonceFree({ chain, owner }: Registry, usedNonces: number): Promise<boolean> {
  return (await chain.transactionCount(owner, "pending")) <= usedNonces;
}

async function findOwnReceipt(
  { batch: { root }, hashes }: PendingTransaction,
  registry: Registry,
): Promise<AddedRootEvent | undefined> {
  for (const hash of hashes.toReversed()) {
    const receipt = await registry.chain.receipt(hash);
    if (receipt !== undefined) return registry.readAddedRoot(receipt, root);
  }
  return undefined;
}
