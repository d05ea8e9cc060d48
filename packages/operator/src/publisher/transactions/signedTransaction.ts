/** The search for the owner's transaction with a given nonce. The owner's signature proves the result. */
import { Transaction, type TransactionLike } from "ethers/transaction";
import { TransportError } from "keyroot/internal/errors";
import { isHash, toQuantity } from "keyroot/internal/ethereum";
import { isObject } from "keyroot/internal/input";
import type { Registry } from "../chain/registry.ts";

/** A transaction that an account has signed. */
export interface OwnersTransaction {
  /** The transaction hash: 0x and 64 lowercase hex digits. */
  hash: string;
  /** The address of the called contract. Undefined if the transaction creates a contract. */
  to: string | undefined;
  /** The calldata: 0x and lowercase hex digits. */
  data: string;
}

/**
 * Finds the transaction in which the registry's owner used a nonce. The endpoint returns the transaction, and the
 * owner's signature proves that the owner sent the transaction.
 * @returns undefined if the endpoint does not return the transaction. For example, the transaction's block may be too
 * old for a node that is not an archive node
 */
export async function findSignedTransaction(registry: Registry, nonce: number): Promise<OwnersTransaction | undefined> {
  try {
    const block = await findBlock(registry, nonce);
    if (block === undefined) return undefined;
    const transactions = await registry.chain.request(
      "eth_getBlockByNumber",
      [toQuantity(block), true],
      transactionsIn,
    );
    return firstOf(transactions, registry.owner, nonce);
  } catch (error) {
    // Nodes delete the state of old blocks, and large blocks may exceed the size limit.
    if (error instanceof TransportError && ["RPC_ERROR", "ANSWER_TOO_LARGE"].includes(error.code)) return undefined;
    throw error;
  }
}

/** Returns the number of the first block at which the owner's transaction count is higher than the nonce. */
async function findBlock({ chain, owner }: Registry, nonce: number): Promise<number | undefined> {
  const isUsedAt = async (block: number) => (await chain.transactionCount(owner, block)) > nonce;
  let used = (await chain.block("latest")).number;
  if (!(await isUsedAt(used))) return undefined;
  let step = 1;
  while (used > step && (await isUsedAt(used - step))) {
    used -= step;
    step *= 2;
  }
  let unused = Math.max(used - step, 0);
  while (used - unused > 1) {
    const middle = Math.floor((unused + used) / 2);
    if (await isUsedAt(middle)) used = middle;
    else unused = middle;
  }
  return used;
}

function transactionsIn(block: unknown): unknown[] {
  const { transactions } = isObject(block) ? block : {};
  if (Array.isArray(transactions)) return transactions;
  throw new Error("not a block with transactions");
}

function firstOf(transactions: readonly unknown[], owner: string, nonce: number): OwnersTransaction | undefined {
  for (const transaction of transactions) {
    if (!isObject(transaction) || Number(transaction["nonce"]) !== nonce) continue;
    const signed = readTransaction(transaction);
    if (signed?.from !== owner || signed.nonce !== nonce || !isHash(signed.hash)) continue;
    return { hash: signed.hash, to: signed.to ?? undefined, data: signed.data };
  }
  return undefined;
}

/** Parses a signed transaction in JSON-RPC format. Returns undefined if the format is wrong. */
function readTransaction(fields: Readonly<Record<string, unknown>>): Transaction | undefined {
  const { type, chainId, nonce, gas, to, value, input, r, s, v } = fields;
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas, accessList } = fields;
  const isLegacy = Number(type ?? 0) === 0;
  const fees = Number(type) === 2 ? { maxFeePerGas, maxPriorityFeePerGas } : { gasPrice };
  const body = { type: Number(type ?? 0), nonce: Number(nonce), gasLimit: gas, to, value, data: input, ...fees };
  try {
    return Transaction.from({
      ...body,
      ...(chainId !== undefined && { chainId }),
      ...(!isLegacy && { accessList }),
      signature: { r, s, v: Number(v) },
    } as TransactionLike);
  } catch {
    return undefined;
  }
}
