import type { UserID } from "keyroot/internal/identity";
import { plural } from "../plural.ts";
import type { RootHistory } from "./auditChain.ts";
import { type Finding, finding } from "./finding.ts";

/** A user in a root's file to whom the contract assigns a different root. */
export interface UserWithOtherRoot {
  userID: UserID;
  /** The user's root in the contract: 64 lowercase hex digits. */
  userRoot: string;
}

/**
 * Compares a root's file with the chain in both directions. Every user in the file must have the root in the contract,
 * and the file must contain every user to whom the root's events assign it.
 * @param userIDs the users in the file
 * @param userRoots the contract's roots for these users, in the order of `userIDs`; undefined for a user without a root
 * @param isKnown returns true if an event contains a root
 * @returns `found`: the number of users in the file who have the root
 */
export function auditRoot(
  { root, addedCount }: RootHistory,
  userIDs: readonly UserID[],
  userRoots: readonly (string | undefined)[],
  isKnown: (root: string) => boolean,
): { findings: Finding[]; others: UserWithOtherRoot[]; found: number } {
  const findings: Finding[] = [];
  const others: UserWithOtherRoot[] = [];
  let found = 0;
  for (const [i, userID] of userIDs.entries()) {
    const userRoot = userRoots[i];
    if (userRoot === root) {
      found++;
    } else if (userRoot === undefined) {
      const message = `The user ${userID} is in the file of ${root}, but has no root on the chain.`;
      findings.push(finding("USER_NOT_PUBLISHED", message, { root, userID }));
    } else if (isKnown(userRoot)) {
      others.push({ userID, userRoot });
    } else {
      const message = `The user ${userID} is in the file of ${root} and has the root ${userRoot}, but no event contains this root.`;
      findings.push(finding("ROOT_UNKNOWN", message, { root, userID }));
    }
  }
  if (addedCount > found) {
    const message = `The events of the root ${root} add ${plural(addedCount, "user")}, but the root's file contains only ${found} of them.`;
    findings.push(finding("USER_HIDDEN", message, { root }));
  } else if (addedCount < found) {
    const message = `The file of ${root} contains ${plural(found, "user")} with this root, but the root's events add only ${addedCount}.`;
    findings.push(finding("ADDED_COUNT_TOO_LOW", message, { root }));
  }
  return { findings, others, found };
}
