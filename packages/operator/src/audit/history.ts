import pMap from "p-map";
import { fetchBlock, toQuantity } from "keyroot/internal/ethereum";
import type { BlockRange, RootAddedLog } from "keyroot/internal/registry";
import type { RpcCall } from "keyroot/internal/transport";
import { plural } from "../plural.ts";
import { readRootAddedLogs } from "../rpc/logRanges.ts";
import { repeatRead } from "../rpc/repeatReads.ts";
import type { RetryOptions } from "../http/retry.ts";
import { auditBlocks } from "./auditChain.ts";
import type { BlockCursor } from "./checkBlock.ts";
import { type Finding, finding } from "./finding.ts";

/** The maximum number of concurrent JSON-RPC requests of one kind. */
export const CONCURRENT_CALLS = 8;

/** An event with the time of its block. */
export interface DatedRootLog extends RootAddedLog {
  /** The time of the block in seconds since 1970. */
  timestamp: number;
}

/** The events that an earlier run saved. */
export interface SavedHistory {
  cursor: BlockCursor | undefined;
  /** All events up to the cursor. */
  events: readonly DatedRootLog[];
}

/** All events up to a block, and the faults found in these events. */
export interface History {
  events: DatedRootLog[];
  findings: Finding[];
}

/**
 * Reads the registry's events up to a block. The read starts after the last block of an earlier run. If the last block
 * is no longer on the chain, the read starts after the last saved event that is on the chain. The findings include
 * every removed root.
 * @param call repeats requests after temporary failures
 * @param onRead receives the number of the last block read
 * @param retry the retries of blocks that a node does not have yet
 * @throws TransportError the errors of `readRootAddedLogs`
 */
export async function readHistory(
  call: RpcCall,
  contract: string,
  { fromBlock, toBlock }: BlockRange,
  saved: SavedHistory,
  onRead: (toBlock: number) => void = () => undefined,
  retry?: RetryOptions,
): Promise<History> {
  const known = saved.events.filter(({ blockNumber }) => blockNumber <= toBlock);
  const { kept, next } = await findKeptEvents(call, toBlock, { ...saved, events: known }, retry);
  const range = { fromBlock: Math.max(fromBlock, next), toBlock };
  const added = await readRootAddedLogs(call, contract, range, onRead);

  const numbers = new Set(added.map(({ blockNumber }) => blockNumber));
  const read = async (number: number) => [number, await repeatRead(() => fetchBlock(call, number), retry)] as const;
  const blocks = new Map(await pMap(numbers, read, { concurrency: CONCURRENT_CALLS }));
  const hashes = new Map(Array.from(blocks, ([number, { hash }]) => [number, hash]));
  const dated = added.map((event) => ({ ...event, timestamp: blocks.get(event.blockNumber)?.timestamp ?? 0 }));
  const events = [...kept, ...dated];
  const dropped = known.slice(kept.length);
  return { events, findings: [...auditBlocks(added, hashes), ...auditDroppedEvents(dropped, events)] };
}

/** Finds the saved events that are still on the chain, and the first block after these events. */
async function findKeptEvents(
  call: RpcCall,
  toBlock: number,
  { cursor, events }: SavedHistory,
  retry: RetryOptions | undefined,
): Promise<{ kept: readonly DatedRootLog[]; next: number }> {
  if (cursor !== undefined && cursor.number <= toBlock && (await isStillOnChain(call, cursor, retry))) {
    return { kept: events, next: cursor.number + 1 };
  }
  for (const [i, { blockNumber: number, blockHash: hash }] of [...events.entries()].reverse()) {
    if (await isStillOnChain(call, { number, hash }, retry)) return { kept: events.slice(0, i + 1), next: number + 1 };
  }
  return { kept: [], next: 0 };
}

/**
 * Returns true if a block up to the newest one is still on the chain. If a node does not have this number, it is behind,
 * and the block is read again.
 */
export async function isStillOnChain(
  call: RpcCall,
  { number, hash }: Pick<BlockCursor, "number" | "hash">,
  retry?: RetryOptions,
): Promise<boolean> {
  return (await repeatRead(() => fetchBlock(call, number), retry)).hash === hash;
}

/** Returns true if the endpoint has this block. An endpoint does not have blocks above its newest block. */
export async function isOnChain(
  call: RpcCall,
  { number, hash }: Pick<BlockCursor, "number" | "hash">,
): Promise<boolean> {
  const answer = await call("eth_getBlockByNumber", [toQuantity(number), false]);
  return answer !== null && (await fetchBlock(() => Promise.resolve(answer), number)).hash === hash;
}

/**
 * Returns a finding for each event that a reorganization removed.
 * @param dropped the saved events in blocks that are no longer on the chain
 */
function auditDroppedEvents(dropped: readonly DatedRootLog[], events: readonly RootAddedLog[]): Finding[] {
  const roots = new Set(events.map(({ root }) => root));
  return dropped.map(({ root, blockNumber, blockHash, addedCount }) => {
    const lost = `Block ${blockNumber} with the hash ${blockHash} is no longer on the chain. In this block, ${plural(addedCount, "user")} got the root ${root}.`;
    return roots.has(root)
      ? finding("CHAIN_REORGANIZED", `${lost} The root is now in another block.`, { root })
      : finding("ROOT_REORGANIZED", `${lost} The root is no longer on the chain.`, { root });
  });
}
