import { fetchBlock } from "keyroot/internal/ethereum";
import type { BlockRange, RootAddedLog } from "keyroot/internal/registry";
import type { RpcCall } from "keyroot/internal/transport";
import { mapCalls } from "../rpc/openEndpoint.ts";
import { repeatRead } from "../rpc/repeatReads.ts";
import type { RetryOptions } from "../http/retry.ts";
import { type BlockCursor, isStillOnChain } from "./blocks.ts";
import { readRootAddedLogs } from "./logRanges.ts";

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

/** All events up to a block, and the events that are not on the chain. */
export interface History {
  events: DatedRootLog[];
  /** The saved events in blocks that are no longer on the chain. */
  dropped: readonly DatedRootLog[];
  /** The new events whose block has another hash on the chain, with that hash. */
  misplaced: { event: RootAddedLog; actual: string | undefined }[];
}

/**
 * Reads the registry's events up to a block, starting after the last block of an earlier run. If a reorganization has
 * replaced that block, it starts after the last saved event that is still on the chain.
 * @param call repeats requests after temporary failures
 * @param onRead receives the number of the last block read
 * @param retry how often to ask again for blocks that a node does not have yet
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
  const blocks = new Map(await mapCalls([...numbers], read));
  const dated = added.map((event) => ({ ...event, timestamp: blocks.get(event.blockNumber)?.timestamp ?? 0 }));
  const misplaced = added.flatMap((event) => {
    const actual = blocks.get(event.blockNumber)?.hash;
    return actual === event.blockHash ? [] : [{ event, actual }];
  });
  return { events: [...kept, ...dated], dropped: known.slice(kept.length), misplaced };
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
