import type { RootAddedLog } from "keyroot/internal/registry";
import { plural } from "../plural.ts";
import { type Finding, finding } from "./finding.ts";
import type { BlockCursor, DatedRootLog, History } from "../follow/index.ts";

/** A root with the data of all events that contain the root. */
export interface RootHistory {
  /** The root: 64 lowercase hex digits. */
  root: string;
  /** The number of users with this root. */
  addedCount: number;
  /** The block of the first event with this root. */
  blockNumber: number;
}

/**
 * Returns the roots in the order of their first blocks. Roots of the same block are sorted by value, because storage
 * proofs do not show in which order a block's roots were added.
 */
export function rootsOf(events: readonly RootAddedLog[]): RootHistory[] {
  const roots = new Map<string, RootHistory>();
  for (const { root, addedCount, blockNumber } of events) {
    const known = roots.get(root);
    if (known === undefined) roots.set(root, { root, addedCount, blockNumber });
    else known.addedCount += addedCount;
  }
  return [...roots.values()].sort((a, b) => a.blockNumber - b.blockNumber || (a.root < b.root ? -1 : 1));
}

/** Checks that no event is missing: together, they must add as many users as the contract counts. */
export function auditUserCount(events: readonly RootAddedLog[], userCount: number): Finding[] {
  const sum = events.reduce((sum, { addedCount }) => sum + addedCount, 0);
  if (sum === userCount) return [];
  const counts = `All events together add ${plural(sum, "user")}, but the contract counts ${userCount}`;
  return sum < userCount
    ? [finding("LOG_WITHHELD", `${counts}. The endpoint withholds events of ${plural(userCount - sum, "user")}.`)]
    : [finding("LOG_EXCESS", `${counts}. The endpoint returns false events of ${plural(sum - userCount, "user")}.`)];
}

/** The maximum delay of a node behind other nodes, in seconds and in blocks. */
const MAX_LAG = { seconds: 120, blocks: 1_000 };

/**
 * Reports an endpoint whose newest block is older than a block that an earlier run read. Nothing is reported if the gap
 * is at most `MAX_LAG`, because the node may only be behind other nodes. The same applies if the endpoint still has the
 * earlier block.
 * @param isOnChain whether the endpoint has the earlier block
 */
export function auditCursor(cursor: BlockCursor | undefined, newest: BlockCursor, isOnChain: boolean): Finding[] {
  if (cursor === undefined || cursor.number <= newest.number || isOnChain) return [];
  const behind = { seconds: cursor.timestamp - newest.timestamp, blocks: cursor.number - newest.number };
  if (behind.seconds <= MAX_LAG.seconds && behind.blocks <= MAX_LAG.blocks) return [];
  const message = `The newest block is ${newest.number}, but an earlier run read block ${cursor.number} with the hash ${cursor.hash}. One of the two responses was false. This run reads events again from the last saved block that is on the chain.`;
  return [finding("CURSOR_ABOVE_HEAD", message)];
}

/**
 * Returns a finding for each new event that is not on the chain, and for each saved event that a reorganization has
 * removed.
 */
export function auditHistory({ events, dropped, misplaced }: History): Finding[] {
  return [...misplaced.map(describeMisplaced), ...auditDroppedEvents(dropped, events)];
}

function describeMisplaced({ event: { root, blockNumber, blockHash }, actual }: History["misplaced"][number]): Finding {
  const message = `The event of the root ${root} is in block ${blockNumber} with the hash ${blockHash}, but this block of the chain has the hash ${actual}.`;
  return finding("LOG_NOT_CANONICAL", message, { root });
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

/**
 * Checks the block number that the contract recorded for a root. It must be the number of the block with the root's
 * first event.
 * @param recorded the block number that `getBlockNumber` returned
 */
export function auditBlockNumber({ root, blockNumber }: RootHistory, recorded: number): Finding[] {
  if (recorded === blockNumber) return [];
  const message = `The contract recorded block ${recorded} for the root ${root}, but the first event of this root is in block ${blockNumber}.`;
  return [finding("BLOCK_NUMBER_MISMATCH", message, { root })];
}
