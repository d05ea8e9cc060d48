import { isObject } from "../input/values.ts";
import { isData, toAddress, toHash } from "./rpcData.ts";
import { invalidAnswer, parseSafeQuantity } from "./rpcValues.ts";

/** An event that a contract emitted in a block. All hex values are lowercase and begin with 0x. */
export interface Log {
  address: string;
  /** Up to four topics, each 0x and 64 hex digits. The first is the Keccak-256 of the event signature. */
  topics: readonly string[];
  /** The event arguments that are not indexed, in ABI encoding. */
  data: string;
  blockNumber: number;
  blockHash: string;
  transactionHash: string;
  logIndex: number;
}

/** Parses logs from a response to `eth_getLogs` or a transaction receipt. @throws TransportError RPC_ANSWER_INVALID */
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
