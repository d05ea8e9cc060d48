import { describeValue } from "keyroot/input";
import { TransportError } from "keyroot/errors";
import { isObject } from "keyroot/input";
import { decodeChainId } from "keyroot/registry";
import type { RpcCall } from "keyroot/transport";
import type { Market } from "../transactions/fees.ts";
import { DEFAULT_PATIENCE, patiently } from "./retry.ts";

/** A block, as far as publishing looks at it. */
export interface Block {
  number: number;
  /** 0x and 64 hex digits in lower case. */
  hash: string;
  /** The most gas that a block's transactions use together. */
  gasLimit: number;
  /** In wei a unit of gas; undefined where the chain has none. */
  baseFeePerGas: bigint | undefined;
}

/** An event in a receipt. */
export interface Log {
  address: string;
  topics: string[];
  data: string;
}

/** What became of a transaction that is in a block. */
export interface Receipt {
  transactionHash: string;
  blockNumber: number;
  succeeded: boolean;
  gasUsed: number;
  /** In wei a unit of gas. */
  gasPrice: bigint;
  logs: Log[];
}

/** Which block: by its number, or the newest of a kind. Not every chain knows the last two. */
export type BlockTag = number | "earliest" | "latest" | "safe" | "finalized";

/** What goes to the block's maker where the endpoint does not say what is usual: 1 gwei. */
const USUAL_TIP = 10n ** 9n;

/** A chain, through an endpoint of which every answer is checked, and which is asked again where it has none. */
export class Chain {
  /** Sends a call once, and checks nothing. */
  readonly call: RpcCall;
  readonly #patience;

  constructor(call: RpcCall, patience = DEFAULT_PATIENCE) {
    this.call = call;
    this.#patience = patience;
  }

  /**
   * Asks a question until there is an answer of the right form. `read` says what is wrong with it by any error.
   * @throws TransportError as the call, RPC_ANSWER_INVALID
   */
  ask<T>(method: string, params: readonly unknown[], read: (answer: unknown) => T): Promise<T> {
    return this.patiently(async () => {
      const answer = await this.call(method, params);
      try {
        return read(answer);
      } catch (cause) {
        const message = `The endpoint's answer to ${method} is not of the form that was asked for: ${describeValue(answer)}.`;
        throw new TransportError("RPC_ANSWER_INVALID", message, { actual: describeValue(answer), cause });
      }
    });
  }

  /** Asks again where the endpoint did not answer. */
  patiently<T>(work: () => Promise<T>): Promise<T> {
    return patiently(work, this.#patience);
  }

  /** The chain's number (EIP-155). */
  chainId(): Promise<number> {
    return this.ask("eth_chainId", [], decodeChainId);
  }

  block(tag: BlockTag): Promise<Block> {
    return this.ask("eth_getBlockByNumber", [spell(tag), false], readBlock);
  }

  /** How many transactions of an account are in blocks; with "pending", also those that wait for one. */
  transactionCount(address: string, tag: "latest" | "pending"): Promise<number> {
    return this.ask("eth_getTransactionCount", [address, tag], toNumber);
  }

  /** What the chain asks for gas. */
  async market({ baseFeePerGas }: Block): Promise<Market> {
    if (baseFeePerGas === undefined) return { baseFeePerGas, tip: await this.ask("eth_gasPrice", [], toBigInt) };
    try {
      return { baseFeePerGas, tip: await this.ask("eth_maxPriorityFeePerGas", [], toBigInt) };
    } catch (error) {
      // Not every endpoint has this method.
      if (!(error instanceof TransportError && error.code === "RPC_ERROR")) throw error;
      return { baseFeePerGas, tip: USUAL_TIP };
    }
  }

  /** Undefined where the transaction is in no block. */
  receipt(transactionHash: string): Promise<Receipt | undefined> {
    return this.ask("eth_getTransactionReceipt", [transactionHash], (answer) =>
      answer === null ? undefined : readReceipt(answer, transactionHash),
    );
  }
}

/** A block as JSON-RPC names it. */
export function spell(tag: BlockTag): string {
  return typeof tag === "number" ? toHex(tag) : tag;
}

/** A quantity as JSON-RPC writes it. */
export function toHex(quantity: number | bigint): string {
  return `0x${quantity.toString(16)}`;
}

/** Reads a quantity. @throws Error where it is none, or too large for a number */
export function toNumber(quantity: unknown): number {
  const number = Number(toBigInt(quantity));
  if (Number.isSafeInteger(number)) return number;
  throw new Error("too large a quantity");
}

function toBigInt(quantity: unknown): bigint {
  if (typeof quantity === "string" && /^0x[0-9a-f]{1,64}$/i.test(quantity)) return BigInt(quantity);
  throw new Error("no quantity");
}

function readBlock(answer: unknown): Block {
  const { number, hash, gasLimit, baseFeePerGas } = toObject(answer);
  return {
    number: toNumber(number),
    hash: toHash(hash),
    gasLimit: toNumber(gasLimit),
    baseFeePerGas: baseFeePerGas === undefined || baseFeePerGas === null ? undefined : toBigInt(baseFeePerGas),
  };
}

function readReceipt(answer: unknown, expected: string): Receipt {
  const receipt = toObject(answer);
  const transactionHash = toHash(receipt["transactionHash"]);
  if (transactionHash !== expected.toLowerCase()) throw new Error("the receipt of another transaction");
  const { blockNumber, status, gasUsed, effectiveGasPrice, logs } = receipt;
  return {
    transactionHash,
    blockNumber: toNumber(blockNumber),
    succeeded: toNumber(status) === 1,
    gasUsed: toNumber(gasUsed),
    gasPrice: toBigInt(effectiveGasPrice),
    logs: toLogs(logs),
  };
}

/** Reads a list of events. @throws Error where it is none */
export function toLogs(logs: unknown): (Log & { transactionHash: string })[] {
  if (!Array.isArray(logs)) throw new Error("no list of events");
  return logs.map((log: unknown) => {
    const { address, topics, data, transactionHash } = toObject(log);
    if (typeof address !== "string" || typeof data !== "string" || !Array.isArray(topics)) throw new Error("no event");
    return { address, topics: topics.map(toHash), data, transactionHash: toHash(transactionHash) };
  });
}

/** Reads a hash. @throws Error where it is none */
export function toHash(hash: unknown): string {
  if (isHash(hash)) return hash.toLowerCase();
  throw new Error("no hash");
}

/** Tells whether a value is a hash: 0x and 64 hex digits. */
export function isHash(value: unknown): value is string {
  return typeof value === "string" && /^0x[0-9a-f]{64}$/i.test(value);
}

function toObject(value: unknown): Record<string, unknown> {
  if (isObject(value)) return value;
  throw new Error("no object");
}
