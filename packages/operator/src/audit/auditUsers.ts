import type { UserWithOtherRoot } from "./auditRoot.ts";
import { type Finding, finding } from "./finding.ts";
import type { IndexedUser, UserIndex } from "./userIndex.ts";

/** Reports users who are in several files with different keys. @param rootOf the root of a file, by its number */
export function* auditKeysOfUsers(users: UserIndex, rootOf: (file: number) => string): Generator<Finding> {
  for (const entries of users.inSeveralFiles()) {
    const [first] = entries as [IndexedUser];
    const other = entries.find(({ keyID }) => Buffer.compare(keyID, first.keyID) !== 0);
    if (other === undefined) continue;
    const { userID } = first;
    const message = `The user ${userID} has one key in the file of ${rootOf(first.file)} and another in that of ${rootOf(other.file)}.`;
    yield finding("USER_TWO_KEYS", message, { root: rootOf(other.file), userID });
  }
}

/**
 * Reports a user who is in a root's file but has another root. It is a notice if that other root's file contains the user, too.
 * @param isAudited whether a root's file was valid, so that its users are known
 */
export function auditOtherRoot(
  root: string,
  { userID, userRoot }: UserWithOtherRoot,
  users: UserIndex,
  rootOf: (file: number) => string,
  isAudited: (root: string) => boolean,
): Finding {
  if (isAudited(userRoot) && !users.find(userID).some(({ file }) => rootOf(file) === userRoot)) {
    const message = `The user ${userID} has the root ${userRoot}, whose file does not contain them; the file of ${root} does.`;
    return finding("USER_NOT_IN_FILE", message, { root: userRoot, userID });
  }
  const message = `The user ${userID} is in the file of ${root} and keeps the earlier root ${userRoot}.`;
  return finding("USER_SUPERSEDED", message, { root, userID });
}
