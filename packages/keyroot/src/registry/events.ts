import { TransportError } from "../errors.ts";
import { isHash, invalidAnswer, parseSafeQuantity, toQuantity } from "../ethereum/rpcValues.ts";
import { type Log, parseLogs } from "../ethereum/log.ts";
import type { RpcCall } from "../transport/jsonRpc.ts";

/**
 * The first topic of `MerkleTreeRootAdded(bytes32 indexed merkleTreeRoot, uint256 addedCount)`: Keccak-256 of this
 * signature.
 */
export const ROOT_ADDED_TOPIC = "0x1ca258c516ef74770ba0f430be77a01c2ca834514f9313e57774d316b5091368";

/**
 * The `MerkleTreeRootAdded` event. The registry emits this event when a call of `addMerkleTreeRoot` sets a root for
 * users.
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
const RANGE_ERRORS = new Set(["RPC_ERROR", "ANSWER_TOO_LARGE"]);

/**
 * Fetches the registry's `MerkleTreeRootAdded` events in a range of blocks, in the order of the chain. Some endpoints
 * reject a range with too many blocks or logs. After such an error, the function halves the range until the endpoint
 * accepts the range. After each success, the next range is twice as large.
 * @param onRead called after each response, with the number of the last block that was read
 * @throws TransportError RPC_ANSWER_INVALID if a response does not match the request; the errors of the call if the
 * endpoint rejects a range of a single block
 */
export async function fetchRootAddedLogs(
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
      all.push(...(await fetchRange(call, contract, range)));
      first = range.toBlock + 1;
      span *= 2;
      onRead(range.toBlock);
    } catch (error) {
      const rejected = error instanceof TransportError && RANGE_ERRORS.has(error.code);
      if (!rejected || range.toBlock === range.fromBlock) throw error;
      span = Math.ceil((range.toBlock - range.fromBlock + 1) / 2);
    }
  }
  return all;
}

/**
 * Decodes a log of the `MerkleTreeRootAdded` event.
 * @returns undefined if the log belongs to a different contract or event
 * @throws TransportError RPC_ANSWER_INVALID
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
 * Fetches the events in a range of blocks. Checks that each log matches the request and occurs only once. All logs of a
 * block must have the same block hash.
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
