import type { UserID } from "keyroot/identity";
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
 * Compares a root's file with the chain in both directions. Every user in the file must have this root, and no other user may
 * have it.
 * @param userIDs the users in the file
 * @param userRoots these users' roots in the contract, in the same order; undefined for a user without a root
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
      const message = `The user ${userID} is in the file of ${root} and has the root ${userRoot}, but no event contains this root.`;
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
