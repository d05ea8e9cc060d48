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
import { DEFAULT_RETRY, type RetryOptions, withRetry } from "../../http/retry.ts";
import type { FeeData } from "./fees.ts";
import { receiptDataFee } from "./receiptDataFee.ts";

/** The fields of a block that publishing needs. */
export interface Block {
  number: number;
  /** The block hash: 0x and 64 lowercase hex digits. */
  hash: string;
  /** The block's time in seconds since 1970. */
  timestamp: number;
  /** The gas limit of the block. */
  gasLimit: number;
  /** The base fee in wei per unit of gas. Undefined on chains without a base fee. */
  baseFeePerGas: bigint | undefined;
}

/** The result of a transaction that is in a block. */
export interface Receipt {
  transactionHash: string;
  blockNumber: number;
  succeeded: boolean;
  gasUsed: number;
  /** The price paid per unit of gas, in wei. */
  gasPrice: bigint;
  /** The L1 fee and the operator fee of OP-stack chains in wei, in addition to gas. 0 on other chains. */
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
 * A chain that is read through a JSON-RPC endpoint. The class checks every response, and repeats requests after
 * temporary failures.
 */
export class Chain {
  /** Sends one request without retries. Does not check the result. */
  readonly call: RpcCall;
  readonly #retry: RetryOptions;

  constructor(call: RpcCall, retry: RetryOptions = DEFAULT_RETRY) {
    this.call = call;
    this.#retry = retry;
  }

  /**
   * Sends a request, and repeats the request after temporary failures and invalid results.
   * @param parse parses the result, and throws any error if the result is invalid
   * @throws TransportError RPC_ANSWER_INVALID, and the errors of `call`
   */
  request<T>(method: string, params: readonly unknown[], parse: (answer: unknown) => T): Promise<T> {
    return this.withRetry(async () => {
      const answer = await this.call(method, params);
      try {
        return parse(answer);
      } catch (cause) {
        const actual = describeValue(answer);
        const message = `The endpoint's response to ${method} has the wrong format: ${actual}. Use another endpoint.`;
        throw new TransportError("RPC_ANSWER_INVALID", message, { actual, cause });
      }
    });
  }

  /** Runs a read. Repeats the read after temporary failures, as often as the chain's retry options allow. */
  withRetry<T>(read: () => Promise<T>): Promise<T> {
    return withRetry(read, this.#retry);
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

  /** Returns the hash of the chain's first block, as the endpoint reports it: 0x and 64 lowercase hex digits. */
  genesisHash(): Promise<string> {
    return this.withRetry(() => fetchGenesisHash(this.call));
  }

  block(tag: BlockTag): Promise<Block> {
    return this.request("eth_getBlockByNumber", [toBlockParameter(tag), false], (answer) => parseBlock(answer, tag));
  }

  /**
   * Returns the number of an account's transactions in blocks. With the tag "pending", the number also includes
   * transactions that are not in a block yet.
   */
  transactionCount(address: string, tag: number | "latest" | "pending"): Promise<number> {
    const block = typeof tag === "number" ? toQuantity(tag) : tag;
    return this.request("eth_getTransactionCount", [address, block], parseSafeQuantity);
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
  receipt(transactionHash: string): Promise<Receipt | undefined> {
    return this.request("eth_getTransactionReceipt", [transactionHash], (answer) =>
      isPending(answer) ? undefined : parseReceipt(answer, transactionHash),
    );
  }
}

/** Converts a block number or tag to the JSON-RPC format. */
export function toBlockParameter(tag: BlockTag): string {
  return typeof tag === "number" ? toQuantity(tag) : tag;
}

function parseBlock(answer: unknown, tag: BlockTag): Block {
  const { number, hash, timestamp, gasLimit, baseFeePerGas = null } = toObject(answer);
  const block = {
    number: parseSafeQuantity(number),
    hash: toHash(hash),
    timestamp: parseSafeQuantity(timestamp),
    gasLimit: parseSafeQuantity(gasLimit),
    baseFeePerGas: baseFeePerGas === null ? undefined : parsePrice(baseFeePerGas),
  };
  if (typeof tag === "number" && block.number !== tag) throw new Error("another block");
  if (block.timestamp > MAX_SECONDS) throw new Error("a time that no date has");
  return block;
}

/** Parses a price in wei per unit of gas. @throws TransportError RPC_ANSWER_INVALID, or RangeError for a price above 1 ETH */
function parsePrice(value: unknown): bigint {
  const price = parseQuantity(value);
  if (price <= MAX_PRICE) return price;
  throw new RangeError("more than 1 ETH per unit of gas");
}

/**
 * Returns true if a receipt shows that the transaction is not in a block. Most nodes then return null. Some nodes return a
 * receipt without a block.
 */
function isPending(receipt: unknown): boolean {
  return receipt === null || (isObject(receipt) && receipt["blockNumber"] === null);
}

function parseReceipt(answer: unknown, expected: string): Receipt {
  const receipt = toObject(answer);
  const transactionHash = toHash(receipt["transactionHash"]);
  if (transactionHash !== expected.toLowerCase()) throw new Error("not the receipt of this transaction");
  const { blockNumber, status, effectiveGasPrice, logs } = receipt;
  const gasUsed = parseSafeQuantity(receipt["gasUsed"]);
  return {
    transactionHash,
    blockNumber: parseSafeQuantity(blockNumber),
    succeeded: parseSafeQuantity(status) === 1,
    gasUsed,
    gasPrice: parseQuantity(effectiveGasPrice),
    dataFee: receiptDataFee(receipt, gasUsed),
    logs: parseLogs(logs),
  };
}

function toObject(value: unknown): Record<string, unknown> {
  if (isObject(value)) return value;
  throw new Error("not an object");
}
