import type { UserID } from "keyroot/identity";
import type { RootAddedLog } from "keyroot/registry";
import { type Finding, finding } from "./finding.ts";

/** A root, and what all its events together say of it. */
export interface RootHistory {
  /** 64 hex digits in lower case. */
  root: string;
  /** How many users have it. */
  addedCount: number;
  /** The block of its first event. */
  blockNumber: number;
}

/** A user of a root's file who has another root: an earlier file of theirs stands. */
export interface Elsewhere {
  userID: UserID;
  /** The root that they have. */
  standing: string;
}

/** The roots of a history, in the order in which they first were added. */
export function rootsOf(events: readonly RootAddedLog[]): RootHistory[] {
  const roots = new Map<string, RootHistory>();
  for (const { root, addedCount, blockNumber } of events) {
    const known = roots.get(root);
    if (known === undefined) roots.set(root, { root, addedCount, blockNumber });
    else known.addedCount += addedCount;
  }
  return [...roots.values()];
}

/** Whether the events are all that there are: together they count as many users as the contract does. */
export function judgeCount(events: readonly RootAddedLog[], userCount: number): Finding[] {
  const told = events.reduce((sum, { addedCount }) => sum + addedCount, 0);
  if (told === userCount) return [];
  const counts = `All events together add ${told} users, the contract counts ${userCount}`;
  return told < userCount
    ? [finding("LOG_WITHHELD", `${counts}: the endpoint keeps events of ${userCount - told} users back.`)]
    : [finding("LOG_EXCESS", `${counts}: the endpoint has made up events of ${told - userCount} users.`)];
}

/** Whether each event is in a block of the chain. @param hashes the chain's blocks by their number */
export function judgeBlocks(events: readonly RootAddedLog[], hashes: ReadonlyMap<number, string>): Finding[] {
  return events.flatMap(({ root, blockNumber, blockHash }) => {
    const actual = hashes.get(blockNumber);
    if (actual === blockHash) return [];
    const message = `The event of ${root} is said to be in the block ${blockHash}, the chain's block ${blockNumber} is ${actual}.`;
    return [finding("LOG_NOT_CANONICAL", message, { root })];
  });
}

/** Whether the contract dates a root as its first event does. @param recorded what `getBlockNumber` answers */
export function judgeBlockNumber({ root, blockNumber }: RootHistory, recorded: number): Finding[] {
  if (recorded === blockNumber) return [];
  const message = `The contract dates the root ${root} to block ${recorded}, its first event is in block ${blockNumber}.`;
  return [finding("BLOCK_NUMBER_MISMATCH", message, { root })];
}

/**
 * Holds a root's file against the chain, both ways: every user of the file has a root, and nobody else has this one.
 * @param userIDs the users of the file
 * @param standing the roots that they have, in the same order; undefined for none
 * @param isKnown whether an event names a root
 */
export function judgeRoot(
  { root, addedCount }: RootHistory,
  userIDs: readonly UserID[],
  standing: readonly (string | undefined)[],
  isKnown: (root: string) => boolean,
): { findings: Finding[]; elsewhere: Elsewhere[] } {
  const findings: Finding[] = [];
  const elsewhere: Elsewhere[] = [];
  let found = 0;
  for (const [i, userID] of userIDs.entries()) {
    const other = standing[i];
    if (other === root) {
      found++;
    } else if (other === undefined) {
      const message = `The user ${userID} stands in the file of ${root}, and has no root on the chain.`;
      findings.push(finding("USER_NOT_PUBLISHED", message, { root, userID }));
    } else if (isKnown(other)) {
      elsewhere.push({ userID, standing: other });
    } else {
      const message = `The user ${userID}, who stands in the file of ${root}, has the root ${other}, which no event names.`;
      findings.push(finding("ROOT_UNKNOWN", message, { root, userID }));
    }
  }
  if (addedCount > found) {
    const message = `${addedCount} users got the root ${root}, ${found} of them stand in its file: ${addedCount - found} are hidden.`;
    findings.push(finding("USER_HIDDEN", message, { root }));
  } else if (addedCount < found) {
    const message = `${found} users of the file have the root ${root}, its events tell of ${addedCount}.`;
    findings.push(finding("ADDED_COUNT_TOO_LOW", message, { root }));
  }
  return { findings, elsewhere };
}
