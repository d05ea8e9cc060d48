import { type Finding, finding } from "./finding.ts";
import type { Elsewhere } from "./judgeChain.ts";
import type { IndexedUser, UserIndex } from "./userIndex.ts";

/** Users who stand in several files with different keys. @param rootOf the root of a file, by its number */
export function* judgeKeys(users: UserIndex, rootOf: (file: number) => string): Generator<Finding> {
  for (const places of users.inSeveralFiles()) {
    const [first] = places as [IndexedUser];
    const other = places.find(({ keyID }) => Buffer.compare(keyID, first.keyID) !== 0);
    if (other === undefined) continue;
    const { userID } = first;
    const message = `The user ${userID} has one key in the file of ${rootOf(first.file)}, another in that of ${rootOf(other.file)}.`;
    yield finding("USER_TWO_KEYS", message, { root: rootOf(other.file), userID });
  }
}

/**
 * Users of a root's file who have another root. That is a notice where the other root's file has them as well.
 * @param isJudged whether a root's file was there, and was the one of its root
 */
export function judgeElsewhere(
  root: string,
  { userID, standing }: Elsewhere,
  users: UserIndex,
  rootOf: (file: number) => string,
  isJudged: (root: string) => boolean,
): Finding {
  if (isJudged(standing) && !users.find(userID).some(({ file }) => rootOf(file) === standing)) {
    const message = `The user ${userID} has the root ${standing}, whose file does not have them; that of ${root} does.`;
    return finding("USER_NOT_IN_FILE", message, { root: standing, userID });
  }
  const message = `The user ${userID} stands in the file of ${root}, and keeps the root ${standing}.`;
  return finding("USER_SHADOWED", message, { root, userID });
}
