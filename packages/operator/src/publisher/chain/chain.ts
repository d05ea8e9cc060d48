import { TransportError, VerificationError } from "keyroot/internal/errors";
import {
  fetchChainId,
  fetchGenesisHash,
  type Log,
  parseLogs,
  parseQuantity,
  parseSafeQuantity,
  toHash,
  toQuantity,
} from "keyroot/internal/ethereum";
import { describeValue, isObject } from "keyroot/internal/input";
import type { RpcCall } from "keyroot/internal/transport";
import { DEFAULT_RETRY, type RetryOptions } from "../../http/retry.ts";
import type { Meaning } from "../../rpc/nodeAnswer.ts";
import { nodeAnswerTo } from "../../rpc/nodeAnswers.ts";
import { readUntil, repeatingCaller, repeatRead } from "../../rpc/repeatReads.ts";
import type { FeeData } from "./fees.ts";
import { isLocalChainId } from "../../follow/index.ts";
import { receiptDataFee } from "./receiptDataFee.ts";

/** The fields of a block that publishing needs. */
export interface Block {
  number: number;
  /** The block hash: 0x and 64 lowercase hex digits. */
  hash: string;
  /** The block's time in seconds since 1970. */
  timestamp: number;
  /** The gas limit of the block. A chain without a limit reports 2^64 - 1, which is replaced by 2^53 - 1 here. */
  gasLimit: number;
  /** The base fee in wei per unit of gas. Undefined on chains without a base fee. */
  baseFeePerGas: bigint | undefined;
}

/** The result of a transaction that is in a block. */
export interface Receipt {
  /** The transaction hash: 0x and 64 lowercase hex digits. */
  transactionHash: string;
  blockNumber: number;
  succeeded: boolean;
  gasUsed: number;
  /** The price paid per unit of gas, in wei, or 0 if the endpoint does not return it. */
  gasPrice: bigint;
  /**
   * The L1 fee and the operator fee of OP-stack chains in wei, which are paid in addition to gas. 0 on other chains.
   */
  dataFee: bigint;
  logs: Log[];
}

/** A block number or tag. Some chains do not support "safe" and "finalized". */
export type BlockTag = number | "latest" | "safe" | "finalized";

/** The priority fee if the endpoint suggests no priority fee: 1 gwei, in wei. */
const DEFAULT_PRIORITY_FEE = 10n ** 9n;

/** The latest time that a JavaScript date can hold, in seconds since 1970. */
const MAX_SECONDS = 8.64e12;

/** The highest accepted price per unit of gas: 1 ETH, in wei. */
const MAX_PRICE = 10n ** 18n;

/**
 * A chain that is read through a JSON-RPC endpoint. Every response is checked, and after a temporary failure, the
 * request is sent again.
 */
export class Chain {
  /**
   * Sends a request, without checking the result. Reads are repeated after temporary failures, but transactions are
   * sent only once.
   */
  readonly call: RpcCall;
  readonly #callOnce: RpcCall;
  readonly #retry: RetryOptions;

  constructor(call: RpcCall, retry: RetryOptions = DEFAULT_RETRY) {
    this.call = repeatingCaller(call, retry);
    this.#callOnce = call;
    this.#retry = retry;
  }

  /**
   * Sends a request, and repeats it after temporary failures and invalid results.
   * @param parse parses the result; any error that it throws means that the result is invalid
   * @throws TransportError RPC_ANSWER_INVALID, and the errors of `call`
   */
  request<T>(method: string, params: readonly unknown[], parse: (answer: unknown) => T): Promise<T> {
    return this.withRetry(async () => parseAnswer(method, await this.call(method, params), parse));
  }

  /** Runs a read. Repeats the read after temporary failures, as often as the chain's retry options allow. */
  withRetry<T>(read: () => Promise<T>): Promise<T> {
    return repeatRead(read, this.#retry);
  }

  /** Returns the chain id (EIP-155). */
  chainId(): Promise<number> {
    return this.withRetry(() => fetchChainId(this.call));
  }

  /**
   * Checks the chain id that the endpoint reports.
   * @throws VerificationError CHAIN_ID_MISMATCH if the chain id is not `expected`
   */
  async verifyChainId(expected: number): Promise<void> {
    const actual = await this.chainId();
    if (actual === expected) return;
    const message = `The endpoint has chain id ${actual}, but ${expected} was expected. Use an endpoint of the chain ${expected}.`;
    throw new VerificationError("root", "CHAIN_ID_MISMATCH", message, { expected, actual });
  }

  /**
   * Returns the hash of a development chain's first block, as the endpoint reports it: 0x and 64 lowercase hex digits.
   * It distinguishes development chains, which share their ids.
   *
   * For every other chain, it returns undefined. The id of such a chain is enough to identify it, and its nodes may
   * have deleted the first block (EIP-4444).
   * @param chainId the id of this chain (EIP-155)
   */
  async genesisHash(chainId: number): Promise<string | undefined> {
    if (!isLocalChainId(chainId)) return undefined;
    return this.#unless("history pruned", () => fetchGenesisHash(this.#callOnce));
  }

  /** Returns the newest finalized block, or undefined if the node does not know one yet. */
  async finalizedBlock(): Promise<Block | undefined> {
    const method = "eth_getBlockByNumber";
    return this.#unless("block unknown", async () => {
      const answer = await this.#callOnce(method, ["finalized", false]);
      return answer === null ? undefined : parseAnswer(method, answer, (block) => parseBlock(block, "finalized"));
    });
  }

  /** Runs a read. Returns undefined after an answer with this meaning. */
  async #unless<T>(meaning: Meaning, read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await repeatRead(read, this.#retry, { except: [meaning] });
    } catch (error) {
      const { means } = nodeAnswerTo(error, "");
      // Some clients answer with the code of EIP-4444 for the tags of unknown blocks.
      if (means === meaning || (meaning === "block unknown" && means === "history pruned")) return undefined;
      throw error;
    }
  }

  block(tag: BlockTag): Promise<Block> {
    return this.request("eth_getBlockByNumber", [toBlockParameter(tag), false], (answer) => parseBlock(answer, tag));
  }

  /**
   * Returns the number of the newest block.
   * @param atLeast the number of a block that was on the chain. While the newest number is lower, it is read again,
   *   because the node may be behind. After the last retry, the lower number is returned, because a reorganization may
   *   be the cause
   */
  async newestBlock(atLeast: number): Promise<number> {
    return readUntil(
      (number) => number >= atLeast,
      async () => (await this.block("latest")).number,
      this.#retry,
    );
  }

  /**
   * Returns how many of an account's transactions are in blocks. With the tag "pending", transactions that are not in a
   * block yet are counted as well.
   */
  transactionCount(address: string, tag: number | "latest" | "pending"): Promise<number> {
    return this.request("eth_getTransactionCount", [address, toBlockParameter(tag)], parseSafeQuantity);
  }

  /** Returns the gas prices at a block. */
  async fetchFeeData({ baseFeePerGas }: Block): Promise<FeeData> {
    if (baseFeePerGas === undefined) {
      return { baseFeePerGas, priorityFee: await this.request("eth_gasPrice", [], parsePrice) };
    }
    try {
      return { baseFeePerGas, priorityFee: await this.request("eth_maxPriorityFeePerGas", [], parsePrice) };
    } catch (error) {
      // Some endpoints do not support this method.
      if (!(error instanceof TransportError && error.code === "RPC_ERROR")) throw error;
      return { baseFeePerGas, priorityFee: DEFAULT_PRIORITY_FEE };
    }
  }

  /** Returns the receipt of a transaction, or undefined if the transaction is not in a block. */
  async receipt(transactionHash: string): Promise<Receipt | undefined> {
    const receipt = await this.request("eth_getTransactionReceipt", [transactionHash], (answer) =>
      isPending(answer) ? undefined : parseReceipt(answer, transactionHash),
    );
    return receipt && { ...receipt, gasPrice: receipt.gasPrice ?? (await this.#gasPriceOf(transactionHash)) };
  }

  /**
   * Returns the wei per unit of gas that a transaction in a block paid. It is 0 if the endpoint does not return the
   * price.
   */
  async #gasPriceOf(transactionHash: string): Promise<bigint> {
    try {
      return await this.request("eth_getTransactionByHash", [transactionHash], (answer) =>
        parseQuantity(toObject(answer)["gasPrice"]),
      );
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      return 0n;
    }
  }
}

function parseAnswer<T>(method: string, answer: unknown, parse: (answer: unknown) => T): T {
  try {
    return parse(answer);
  } catch (cause) {
    const actual = describeValue(answer);
    const message = `The endpoint's response to ${method} has the wrong format: ${actual}. Use another endpoint.`;
    throw new TransportError("RPC_ANSWER_INVALID", message, { actual, cause });
  }
}

/** Converts a block number or tag to the JSON-RPC format. */
export function toBlockParameter(tag: BlockTag | "pending"): string {
  return typeof tag === "number" ? toQuantity(tag) : tag;
}

function parseBlock(answer: unknown, tag: BlockTag): Block {
  const { number, hash, timestamp, gasLimit, baseFeePerGas = null } = toObject(answer);
  const block = {
    number: parseSafeQuantity(number),
    hash: toHash(hash),
    timestamp: parseSafeQuantity(timestamp),
    gasLimit: Math.min(Number(parseQuantity(gasLimit)), Number.MAX_SAFE_INTEGER),
    baseFeePerGas: baseFeePerGas === null ? undefined : parsePrice(baseFeePerGas),
  };
  if (typeof tag === "number" && block.number !== tag) throw new Error("another block");
  if (block.timestamp > MAX_SECONDS) throw new Error("a time that no date has");
  return block;
}

/**
 * Parses a price in wei per unit of gas.
 * @throws TransportError RPC_ANSWER_INVALID, or RangeError for a price above 1 ETH
 */
function parsePrice(value: unknown): bigint {
  const price = parseQuantity(value);
  if (price <= MAX_PRICE) return price;
  throw new RangeError("more than 1 ETH per unit of gas");
}

/**
 * Returns true if a transaction is in no block yet. For such a transaction, most nodes return null instead of a
 * receipt, but some return a receipt without a block.
 */
function isPending(receipt: unknown): boolean {
  return receipt === null || (isObject(receipt) && receipt["blockNumber"] === null);
}

/**
 * Parses a receipt. Its field `effectiveGasPrice` is missing on chains without the fork London (EIP-1559;
 * https://github.com/ethereum/execution-apis/blob/main/src/schemas/receipt.yaml).
 */
function parseReceipt(answer: unknown, expected: string): Omit<Receipt, "gasPrice"> & { gasPrice: bigint | undefined } {
  const receipt = toObject(answer);
  const transactionHash = toHash(receipt["transactionHash"]);
  if (transactionHash !== expected.toLowerCase()) throw new Error("not the receipt of this transaction");
  const { blockNumber, status, effectiveGasPrice = null, logs } = receipt;
  const gasUsed = parseSafeQuantity(receipt["gasUsed"]);
  return {
    transactionHash,
    blockNumber: parseSafeQuantity(blockNumber),
    succeeded: parseSafeQuantity(status) === 1,
    gasUsed,
    gasPrice: effectiveGasPrice === null ? undefined : parseQuantity(effectiveGasPrice),
    dataFee: receiptDataFee(receipt, gasUsed),
    logs: parseLogs(logs),
  };
}

function toObject(value: unknown): Record<string, unknown> {
  if (isObject(value)) return value;
  throw new Error("not an object");
}
