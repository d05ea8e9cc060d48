/** The search for the owner's transaction with a given nonce, whose result is proven by the owner's signature. */
import { keccak256 } from "ethers/crypto";
import { Transaction, type TransactionLike } from "ethers/transaction";
import { TransportError } from "keyroot/internal/errors";
import { toQuantity } from "keyroot/internal/ethereum";
import { isObject } from "keyroot/internal/input";
import type { Registry } from "../chain/registry.ts";
import { senderOf, serializeSigned } from "../chain/serializeTransaction.ts";

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
 * The number of checks without a receipt after which the search for another transaction starts. A single check is not
 * enough, because a node may count the nonce of a transaction before it returns the receipt.
 */
export const MAX_MISSING_RECEIPTS = 3;

/**
 * Returns true if a search with `findSignedTransaction` is due. Each search takes many requests, so it is due only
 * after 3, 6, 12, … checks.
 * @param missingReceipts the number of checks that found the nonce used, but no receipt
 */
export function isSearchDue(missingReceipts: number): boolean {
  return Number.isInteger(Math.log2(missingReceipts / MAX_MISSING_RECEIPTS)) && missingReceipts >= MAX_MISSING_RECEIPTS;
}

/**
 * Finds the transaction in which the registry's owner used a nonce. The endpoint returns the transaction, and the
 * owner's signature proves that it is genuine.
 * @returns undefined if the endpoint does not return the transaction, for example because only archive nodes still have
 *   the state of its block
 */
export async function findSignedTransaction(
  registry: Pick<Registry, "chain" | "owner">,
  nonce: number,
): Promise<OwnersTransaction | undefined> {
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
async function findBlock(
  { chain, owner }: Pick<Registry, "chain" | "owner">,
  nonce: number,
): Promise<number | undefined> {
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
    if (signed?.isSigned() !== true || signed.nonce !== nonce || senderOf(signed) !== owner) continue;
    return { hash: keccak256(serializeSigned(signed)), to: signed.to ?? undefined, data: signed.data };
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
