import { fetchBlock } from "keyroot/ethereum";
import { type BlockRange, fetchRootAddedLogs, type RootAddedLog } from "keyroot/registry";
import type { RpcCall } from "keyroot/transport";
import { eachAtOnce } from "./eachAtOnce.ts";
import { type Finding, finding } from "./finding.ts";
import { judgeBlocks } from "./judgeChain.ts";

const CALLS_AT_ONCE = 8;

/** An event, and when its block was made. */
export interface DatedRoot extends RootAddedLog {
  /** Seconds since 1970. */
  timestamp: number;
}

/** A block up to which the whole history is known. */
export interface Cursor {
  number: number;
  /** 0x and 64 hex digits in lower case. */
  hash: string;
}

/** What is known from an earlier run. */
export interface KnownHistory {
  cursor: Cursor | undefined;
  /** All events up to the cursor. */
  events: readonly DatedRoot[];
}

/** All events of a range, and whatever is wrong with them. */
export interface History {
  events: DatedRoot[];
  findings: Finding[];
}

/**
 * Reads the registry's events up to a block, going on where an earlier run ended. Where the chain no longer has the
 * block at which that was, it goes back to the last event that the chain still has, and tells of every root that is gone.
 * @throws TransportError as `fetchRootAddedLogs`
 */
export async function readHistory(
  call: RpcCall,
  contract: string,
  { fromBlock, toBlock }: BlockRange,
  known: KnownHistory,
  onRead: (toBlock: number) => void = () => undefined,
): Promise<History> {
  const inView = known.events.filter(({ blockNumber }) => blockNumber <= toBlock);
  const { kept, next } = await whatStands(call, toBlock, { ...known, events: inView });
  const range = { fromBlock: Math.max(fromBlock, next), toBlock };
  const added = await fetchRootAddedLogs(call, contract, range, onRead);

  const blocks = new Map<number, { hash: string; timestamp: number }>();
  await eachAtOnce(new Set(added.map(({ blockNumber }) => blockNumber)), CALLS_AT_ONCE, async (number) => {
    blocks.set(number, await fetchBlock(call, number));
  });
  const hashes = new Map(Array.from(blocks, ([number, { hash }]) => [number, hash]));
  const dated = added.map((event) => ({ ...event, timestamp: blocks.get(event.blockNumber)?.timestamp ?? 0 }));
  const events = [...kept, ...dated];
  return { events, findings: [...judgeBlocks(added, hashes), ...judgeLoss(inView.slice(kept.length), events)] };
}

/** What of the known events is on the chain still, and from which block on it is not known. */
async function whatStands(
  call: RpcCall,
  toBlock: number,
  { cursor, events }: KnownHistory,
): Promise<{ kept: readonly DatedRoot[]; next: number }> {
  const stands = async ({ number, hash }: Cursor) => (await fetchBlock(call, number)).hash === hash;
  if (cursor !== undefined && cursor.number <= toBlock && (await stands(cursor))) {
    return { kept: events, next: cursor.number + 1 };
  }
  for (const [i, { blockNumber: number, blockHash: hash }] of [...events.entries()].reverse()) {
    if (await stands({ number, hash })) return { kept: events.slice(0, i + 1), next: number + 1 };
  }
  return { kept: [], next: 0 };
}

/** @param dropped events whose blocks the chain does not have any more */
function judgeLoss(dropped: readonly DatedRoot[], events: readonly RootAddedLog[]): Finding[] {
  const there = new Set(events.map(({ root }) => root));
  return dropped.map(({ root, blockNumber, blockHash, addedCount }) => {
    const was = `The block ${blockNumber}, ${blockHash}, in which ${addedCount} users got the root ${root}, is no longer on the chain`;
    return there.has(root)
      ? finding("CHAIN_REORGANISED", `${was}; the root is in another.`, { root })
      : finding("ROOT_REORGANISED", `${was}, nor is that root.`, { root });
  });
}
