import { describeValue } from "../input/describeValue.ts";
import { TransportError } from "../errors.ts";
import { isObject } from "../input/json.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";

/** The first topic of `MerkleTreeRootAdded(bytes32 indexed merkleTreeRoot, uint256 addedCount)`: Keccak-256 of its signature. */
const ROOT_ADDED_TOPIC = "0x1ca258c516ef74770ba0f430be77a01c2ca834514f9313e57774d316b5091368";

/** One event of the registry: a call gave a root to so many users. */
export interface RootAddedLog {
  /** 64 hex digits in lower case. */
  root: string;
  /** How many users gained it in this call: 1 or more. */
  addedCount: number;
  blockNumber: number;
  /** 0x and 64 hex digits in lower case, by the word of the endpoint. */
  blockHash: string;
  logIndex: number;
}

/** Blocks, the first and the last included. */
export interface BlockRange {
  fromBlock: number;
  toBlock: number;
}

/** What a node says to a range that holds too much, or takes too long, where it says it in a form that can be read. */
const REFUSALS = new Set(["RPC_ERROR", "ANSWER_TOO_LARGE"]);

/**
 * Reads the registry's events of a range of blocks, in the order of the chain. A range that the node refuses (too many
 * blocks, too many logs) is halved until it answers; after that the ranges grow again.
 * @param onRead is told after each answer up to which block all events are known
 * @throws TransportError RPC_ANSWER_INVALID for an answer that cannot be the one asked for; and as the call, which
 * refuses even a single block
 */
export async function readRootsAdded(
  call: RpcCall,
  contract: string,
  { fromBlock, toBlock }: BlockRange,
  onRead: (toBlock: number) => void = () => undefined,
): Promise<RootAddedLog[]> {
  const all: RootAddedLog[] = [];
  let span = toBlock - fromBlock + 1;
  for (let first = fromBlock; first <= toBlock;) {
    const range = { fromBlock: first, toBlock: Math.min(first + span - 1, toBlock) };
    try {
      const filter = { address: contract, topics: [ROOT_ADDED_TOPIC], ...toHex(range) };
      all.push(...parseRootsAdded(await call("eth_getLogs", [filter]), contract, range));
      first = range.toBlock + 1;
      span *= 2;
      onRead(range.toBlock);
    } catch (error) {
      const refused = error instanceof TransportError && REFUSALS.has(error.code);
      if (!refused || range.toBlock === range.fromBlock) throw error;
      span = Math.ceil((range.toBlock - range.fromBlock + 1) / 2);
    }
  }
  return all;
}

/**
 * Reads an answer to `eth_getLogs`: every log must be one that was asked for, none may come twice, and those of one
 * height must name one block.
 * @throws TransportError RPC_ANSWER_INVALID
 */
function parseRootsAdded(answer: unknown, contract: string, range: BlockRange): RootAddedLog[] {
  if (!Array.isArray(answer)) throw invalid("a list of logs", answer);
  const logs = answer.map((log) => parseLog(log, contract, range));
  logs.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
  for (const [i, { blockNumber, blockHash, logIndex }] of logs.entries()) {
    const before = logs[i - 1];
    if (before?.blockNumber !== blockNumber) continue;
    if (before.logIndex === logIndex) throw invalid("every log once", `log ${logIndex} of block ${blockNumber} twice`);
    if (before.blockHash !== blockHash)
      throw invalid(`one block ${blockNumber}`, `${before.blockHash} and ${blockHash}`);
  }
  return logs;
}

function parseLog(log: unknown, contract: string, { fromBlock, toBlock }: BlockRange): RootAddedLog {
  if (!isObject(log)) throw invalid("a log", log);
  const { address, topics, data, removed } = log;
  if (removed !== undefined && removed !== false) throw invalid("a log that stands", "one that was removed");
  if (typeof address !== "string" || address.toLowerCase() !== contract.toLowerCase()) {
    throw invalid(`a log of ${contract}`, address);
  }
  const [topic, root, ...others] = Array.isArray(topics) ? (topics as unknown[]) : [];
  if (toWord(topic) !== ROOT_ADDED_TOPIC || others.length > 0) throw invalid("a log of MerkleTreeRootAdded", topic);
  const blockNumber = toNumber(log["blockNumber"]);
  if (blockNumber < fromBlock || blockNumber > toBlock) {
    throw invalid(`a block from ${fromBlock} to ${toBlock}`, blockNumber);
  }
  const addedCount = toNumber(toWord(data));
  if (addedCount === 0) throw invalid("a log of one user or more", addedCount);
  return {
    root: toWord(root).slice(2),
    addedCount,
    blockNumber,
    blockHash: toWord(log["blockHash"]),
    logIndex: toNumber(log["logIndex"]),
  };
}

function toWord(value: unknown): string {
  if (typeof value === "string" && /^0x[0-9a-f]{64}$/i.test(value)) return value.toLowerCase();
  throw invalid("0x and 64 hex digits", value);
}

function toNumber(value: unknown): number {
  const number = typeof value === "string" && /^0x[0-9a-f]{1,64}$/i.test(value) ? Number(value) : NaN;
  if (Number.isSafeInteger(number)) return number;
  throw invalid("a quantity", value);
}

function toHex({ fromBlock, toBlock }: BlockRange): object {
  return { fromBlock: `0x${fromBlock.toString(16)}`, toBlock: `0x${toBlock.toString(16)}` };
}

function invalid(expected: string, actual: unknown): TransportError {
  const message = `The endpoint's answer to eth_getLogs is not what was asked for: expected ${expected}, got ${describeValue(actual)}.`;
  return new TransportError("RPC_ANSWER_INVALID", message, { expected, actual: describeValue(actual) });
}
