import { isObject } from "../input/json.ts";
import { toAddress, isData, toHash, invalidAnswer, parseSafeQuantity } from "./rpcValues.ts";

/** A contract's log: an event in a block. All hex is lowercase, with 0x. */
export interface Log {
  /** The contract: 40 hex digits. */
  address: string;
  /** Up to four topics of 64 hex digits each. The first one is Keccak-256 of the event's signature. */
  topics: readonly string[];
  /** The ABI encoding of the arguments that are not indexed. */
  data: string;
  blockNumber: number;
  /** 64 hex digits. */
  blockHash: string;
  /** 64 hex digits. */
  transactionHash: string;
  /** The index of the log in its block. */
  logIndex: number;
}

/** Parses the logs in an answer to `eth_getLogs`, or in a transaction receipt. @throws TransportError RPC_ANSWER_INVALID */
export function parseLogs(value: unknown): Log[] {
  if (Array.isArray(value)) return value.map(parseLog);
  throw invalidAnswer("an array of logs", value);
}

function parseLog(log: unknown): Log {
  if (!isObject(log)) throw invalidAnswer("a log", log);
  const { address, topics, data, removed, blockNumber, blockHash, transactionHash, logIndex } = log;
  if (removed !== undefined && removed !== false) throw invalidAnswer("a log of the current chain", "a removed log");
  if (!Array.isArray(topics)) throw invalidAnswer("an array of topics", topics);
  if (!isData(data)) throw invalidAnswer("the data of a log in hex", data);
  return {
    address: toAddress(address),
    topics: topics.map(toHash),
    data: data.toLowerCase(),
    blockNumber: parseSafeQuantity(blockNumber),
    blockHash: toHash(blockHash),
    transactionHash: toHash(transactionHash),
    logIndex: parseSafeQuantity(logIndex),
  };
}
