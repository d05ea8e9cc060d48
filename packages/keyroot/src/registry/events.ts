import { TransportError } from "../errors.ts";
import { isHash, invalidAnswer, parseSafeQuantity, toQuantity } from "../ethereum/rpcValues.ts";
import { type Log, parseLogs } from "../ethereum/log.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";

/**
 * The first topic of `MerkleTreeRootAdded(bytes32 indexed merkleTreeRoot, uint256 addedCount)`, which is the Keccak-256
 * of the event's signature.
 */
export const ROOT_ADDED_TOPIC = "0x1ca258c516ef74770ba0f430be77a01c2ca834514f9313e57774d316b5091368";

/**
 * The `MerkleTreeRootAdded` event, which the registry emits when a call of `addMerkleTreeRoot` sets a root for users.
 */
export interface RootAddedLog {
  /** The Merkle root, 64 lowercase hex digits. */
  root: string;
  /** The number of users for whom the call set the root, at least 1. */
  addedCount: number;
  blockNumber: number;
  /** The block hash that the endpoint reports: 0x and 64 lowercase hex digits. */
  blockHash: string;
  logIndex: number;
}

/** A range of blocks, which includes the first and the last block. */
export interface BlockRange {
  fromBlock: number;
  toBlock: number;
}

/** The error codes that may mean that a range has too many blocks or logs. */
const RANGE_ERRORS = new Set(["RPC_ERROR", "ANSWER_TOO_LARGE", "TIMEOUT"]);

/**
 * The initial number of ranges that must be accepted before a wider range is tried. The number doubles each time a
 * wider range is rejected.
 */
const FIRST_PATIENCE = 8;

/**
 * Fetches the registry's `MerkleTreeRootAdded` events in a range of blocks, in the order of the chain. If an endpoint
 * rejects a range with too many blocks or logs, or does not answer in time, fewer blocks are requested. A wider range
 * is tried again only after several ranges were accepted.
 * @param onRead called after each response, with the number of the last block that was read
 * @param fewerBlocks called with an error and the number of blocks in the request that failed. It returns the number of
 * blocks for the next request, or undefined if the error should be thrown. Default: half of the blocks after RPC_ERROR,
 * ANSWER_TOO_LARGE or TIMEOUT, and otherwise undefined
 * @throws TransportError RPC_ANSWER_INVALID if a response does not match the request, or an error of the call if the
 * endpoint rejects a range of a single block
 */
export async function fetchRootAddedLogs(
  call: RpcCall,
  contract: string,
  { fromBlock, toBlock }: BlockRange,
  onRead: (toBlock: number) => void = () => undefined,
  fewerBlocks: (error: unknown, blocks: number) => number | undefined = half,
): Promise<RootAddedLog[]> {
  const all: RootAddedLog[] = [];
  let span = toBlock - fromBlock + 1;
  let patience = FIRST_PATIENCE;
  // The number of ranges that must still be accepted before a wider one is tried.
  let missing = patience;
  let isWider = false;
  for (let first = fromBlock; first <= toBlock;) {
    const range = { fromBlock: first, toBlock: Math.min(first + span - 1, toBlock) };
    try {
      all.push(...(await fetchRange(call, contract, range)));
    } catch (error) {
      const blocks = range.toBlock - first + 1;
      const fewer = blocks > 1 ? fewerBlocks(error, blocks) : undefined;
      if (fewer === undefined) throw error;
      span = fewer;
      if (isWider) patience *= 2;
      missing = patience;
      isWider = false;
      continue;
    }
    first = range.toBlock + 1;
    onRead(range.toBlock);
    if (isWider) missing = 1;
    isWider = --missing <= 0;
    if (isWider) span *= 2;
  }
  return all;
}

function half(error: unknown, blocks: number): number | undefined {
  return error instanceof TransportError && RANGE_ERRORS.has(error.code) ? Math.ceil(blocks / 2) : undefined;
}

/**
 * Decodes a log of the `MerkleTreeRootAdded` event.
 * @returns undefined if the log belongs to a different contract or event
 */
export function decodeRootAddedLog(log: Log, contract: string): RootAddedLog | undefined {
  const [topic, root, ...others] = log.topics;
  if (log.address !== contract.toLowerCase() || topic !== ROOT_ADDED_TOPIC) return undefined;
  if (root === undefined || others.length > 0)
    throw invalidAnswer("two topics in a MerkleTreeRootAdded log", log.topics);
  if (!isHash(log.data)) throw invalidAnswer("32 bytes of data in a MerkleTreeRootAdded log", log.data);
  const addedCount = parseSafeQuantity(log.data);
  if (addedCount === 0) throw invalidAnswer("a MerkleTreeRootAdded log of at least one user", addedCount);
  const { blockNumber, blockHash, logIndex } = log;
  return { root: root.slice(2), addedCount, blockNumber, blockHash, logIndex };
}

/**
 * Fetches the registry's events in a range of blocks. Each log must match the request and occur only once. All logs of
 * a block must have the same block hash.
 */
async function fetchRange(call: RpcCall, contract: string, range: BlockRange): Promise<RootAddedLog[]> {
  const { fromBlock, toBlock } = range;
  const blocks = { fromBlock: toQuantity(fromBlock), toBlock: toQuantity(toBlock) };
  const answer = await call("eth_getLogs", [{ address: contract, topics: [ROOT_ADDED_TOPIC], ...blocks }]);
  const logs = parseLogs(answer).map((log) => {
    const decoded = decodeRootAddedLog(log, contract);
    if (decoded === undefined) throw invalidAnswer(`MerkleTreeRootAdded logs of ${contract}`, "another log");
    if (decoded.blockNumber >= fromBlock && decoded.blockNumber <= toBlock) return decoded;
    throw invalidAnswer(`logs of the blocks ${fromBlock} to ${toBlock}`, decoded.blockNumber);
  });
  logs.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
  for (const [i, { blockNumber, blockHash, logIndex }] of logs.entries()) {
    const before = logs[i - 1];
    if (before?.blockNumber !== blockNumber) continue;
    if (before.logIndex === logIndex)
      throw invalidAnswer("each log once", `log ${logIndex} of block ${blockNumber} twice`);
    if (before.blockHash !== blockHash)
      throw invalidAnswer(`one hash of the block ${blockNumber}`, `${before.blockHash} and ${blockHash}`);
  }
  return logs;
}
