/** The search for nonces that other transactions of the registry's owner have used. */
import type { Receipt } from "../chain/chain.ts";
import type { AddedRootEvent, Registry } from "../chain/registry.ts";
import type { PendingTransaction } from "./pendingTransaction.ts";
import { findSignedTransaction, isSearchDue, MAX_MISSING_RECEIPTS } from "./signedTransaction.ts";

/**
 * The transaction that used a nonce. With `batch`, it is the batch's own transaction. `added` is its event, if it has
 * one, and `reverted` is its receipt, if it was reverted. With `foreign`, it is another transaction, which must have
 * the owner's signature. The signature proves that the batch's own transaction was not included.
 */
export type NonceUser =
  { by: "batch"; added: AddedRootEvent | undefined } | { by: "batch"; reverted: Receipt } | { by: "foreign" };

/**
 * Finds out which transaction used the nonce of a batch.
 * @returns undefined if the chain does not show this transaction yet
 * @throws TransportError the errors of `chain`
 */
export async function findNonceUser(
  transaction: PendingTransaction,
  registry: Registry,
): Promise<NonceUser | undefined> {
  const { batch, attempt } = transaction;
  const { root, userIDs } = batch;
  const receipt = await findOwnReceipt(transaction, registry);
  if (receipt?.succeeded === true) return { by: "batch", added: registry.readAddedRoot(receipt, root) };
  const added = await registry.findAddedRoot(root);
  if (added !== undefined) return { by: "batch", added };
  if (receipt !== undefined) return { by: "batch", reverted: receipt };
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
  // An earlier run sent this transaction, and ended before it recorded the hash. The next check reads its receipt.
  if (!transaction.hashes.includes(found.hash)) transaction.hashes.push(found.hash);
  return undefined;
}

/**
 * Returns true if no pending transaction has the next nonce. The nonce then belonged to a transaction of another
 * program, and nodes have dropped this transaction.
 */
export async function isNextNonceFree({ chain, owner }: Registry, usedNonces: number): Promise<boolean> {
  return (await chain.transactionCount(owner, "pending")) <= usedNonces;
}

/** Describes why no block can include a transaction with this nonce. Returns undefined for the lowest unused nonce. */
export function describeBlockage(nonce: number, usedNonces: number): string | undefined {
  if (nonce > usedNonces)
    return `Another transaction of the owner has the nonce ${usedNonces}, and must be included first.`;
  if (nonce === usedNonces) return undefined;
  return (
    `The owner has used the nonce ${nonce}, but the endpoint does not return the transaction that used it. Before this is ` +
    "known, nothing is sent with another nonce. Use another endpoint. For an old transaction, it needs the state of old blocks. If " +
    "you sent the other transaction yourself, you can also delete the plan's folder and publish again."
  );
}

/** Returns the receipt of the batch's newest transaction that is in a block. */
async function findOwnReceipt({ hashes }: PendingTransaction, { chain }: Registry): Promise<Receipt | undefined> {
  for (const hash of hashes.toReversed()) {
    const receipt = await chain.receipt(hash);
    if (receipt !== undefined) return receipt;
  }
  return undefined;
}
