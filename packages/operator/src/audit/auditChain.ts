import type { UserID } from "keyroot/identity";
import type { RootAddedLog } from "keyroot/registry";
import { plural } from "../text/plural.ts";
import { type Finding, finding } from "./finding.ts";

/** A root, and what all its events together say about it. */
export interface RootHistory {
  /** 64 hex digits in lower case. */
  root: string;
  /** The number of users who got it. */
  addedCount: number;
  /** The block of its first event. */
  blockNumber: number;
}

/** A user of a root's file whose root on chain is another one. */
export interface UserWithOtherRoot {
  userID: UserID;
  /** The user's root on chain: 64 hex digits in lower case. */
  userRoot: string;
}

/** The roots of a history, in the order in which they were first added. */
export function rootsOf(events: readonly RootAddedLog[]): RootHistory[] {
  const roots = new Map<string, RootHistory>();
  for (const { root, addedCount, blockNumber } of events) {
    const known = roots.get(root);
    if (known === undefined) roots.set(root, { root, addedCount, blockNumber });
    else known.addedCount += addedCount;
  }
  return [...roots.values()];
}

/** Checks that the events are complete: together they must add as many users as the contract counts. */
export function auditUserCount(events: readonly RootAddedLog[], userCount: number): Finding[] {
  const sum = events.reduce((sum, { addedCount }) => sum + addedCount, 0);
  if (sum === userCount) return [];
  const counts = `All events together add ${plural(sum, "user")}, the contract counts ${userCount}`;
  return sum < userCount
    ? [finding("LOG_WITHHELD", `${counts}: the endpoint withholds events of ${plural(userCount - sum, "user")}.`)]
    : [finding("LOG_EXCESS", `${counts}: the endpoint returns false events of ${plural(sum - userCount, "user")}.`)];
}

/** Checks that the block of each event is on the chain. @param hashes the chain's block hashes by block number */
export function auditBlocks(events: readonly RootAddedLog[], hashes: ReadonlyMap<number, string>): Finding[] {
  return events.flatMap(({ root, blockNumber, blockHash }) => {
    const actual = hashes.get(blockNumber);
    if (actual === blockHash) return [];
    const message = `The event of ${root} names the block ${blockHash}, but block ${blockNumber} of the chain is ${actual}.`;
    return [finding("LOG_NOT_CANONICAL", message, { root })];
  });
}

/** Checks a root's block in the contract against its first event. @param recorded what `getBlockNumber` returned */
export function auditBlockNumber({ root, blockNumber }: RootHistory, recorded: number): Finding[] {
  if (recorded === blockNumber) return [];
  const message = `The contract has recorded block ${recorded} for the root ${root}, its first event is in block ${blockNumber}.`;
  return [finding("BLOCK_NUMBER_MISMATCH", message, { root })];
}

/**
 * Compares a root's file with the chain, in both directions: every user of the file has a root, and no user outside of the
 * file has this one.
 * @param userIDs the users of the file
 * @param userRoots their roots on chain, in the same order; undefined for none
 * @param isKnown whether an event names a root
 */
export function auditRoot(
  { root, addedCount }: RootHistory,
  userIDs: readonly UserID[],
  userRoots: readonly (string | undefined)[],
  isKnown: (root: string) => boolean,
): { findings: Finding[]; others: UserWithOtherRoot[] } {
  const findings: Finding[] = [];
  const others: UserWithOtherRoot[] = [];
  let found = 0;
  for (const [i, userID] of userIDs.entries()) {
    const userRoot = userRoots[i];
    if (userRoot === root) {
      found++;
    } else if (userRoot === undefined) {
      const message = `The user ${userID} is in the file of ${root} and has no root on the chain.`;
      findings.push(finding("USER_NOT_PUBLISHED", message, { root, userID }));
    } else if (isKnown(userRoot)) {
      others.push({ userID, userRoot });
    } else {
      const message = `The user ${userID} is in the file of ${root} and has the root ${userRoot}, which no event names.`;
      findings.push(finding("ROOT_UNKNOWN", message, { root, userID }));
    }
  }
  if (addedCount > found) {
    const message = `${plural(addedCount, "user")} got the root ${root}, but its file has only ${found} of them.`;
    findings.push(finding("USER_HIDDEN", message, { root }));
  } else if (addedCount < found) {
    const message = `The file has ${plural(found, "user")} with the root ${root}, but its events add only ${addedCount}.`;
    findings.push(finding("ADDED_COUNT_TOO_LOW", message, { root }));
  }
  return { findings, others };
}
