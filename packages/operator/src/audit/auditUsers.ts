import { userIDToBytes } from "keyroot/identity";
import { USER_BYTES } from "./auditFile.ts";
import type { UserWithOtherRoot } from "./auditRoot.ts";
import { type Finding, finding } from "./finding.ts";
import { makeUserHash } from "./userHash.ts";
import { type IndexedUser, UserIndex } from "./userIndex.ts";

/** Maximum number of users in memory at a time: about 350 MB. */
const USERS_PER_PASS = 8_000_000;

/** The users of all files, which one state or the states of all parts have. */
export interface AllUsers {
  /** The roots of the files, the oldest first. */
  roots: readonly string[];
  /** The number of users in all files. */
  count: number;
  /** The users of a root's file, `USER_BYTES` each; undefined if there is no file that is its root's. */
  usersOf(root: string): Uint8Array | undefined;
  /** For each root, the users of its file who have another root. */
  others(): Iterable<{ root: string; users: readonly UserWithOtherRoot[] }>;
}

/**
 * Compares the users of all files with each other. Each pass reads all users, and keeps those whose ids have one of several
 * hashes: memory does not grow with the number of users, and all entries of a user are in the same pass.
 * @param usersPerPass the mean number of users that a pass keeps
 */
export function* auditUsers(all: AllUsers, usersPerPass = USERS_PER_PASS): Generator<Finding> {
  const hash = makeUserHash();
  const passes = Math.max(1, Math.ceil(all.count / usersPerPass));
  for (let pass = 0; pass < passes; pass++) {
    const isInPass = (bytes: Uint8Array, at: number) => hash(bytes, at) % passes === pass;
    const index = new UserIndex(hash);
    const files: string[] = [];
    const audited = new Set<string>();
    for (const root of all.roots) {
      const users = all.usersOf(root);
      if (users === undefined) continue;
      audited.add(root);
      const kept = passes === 1 ? users : usersWhere(users, isInPass);
      if (kept.length > 0) files[index.add(kept)] = root;
    }
    const rootOf = (file: number) => files[file] ?? "";
    yield* auditKeysOfUsers(index, rootOf);
    for (const { root, users } of all.others()) {
      for (const user of users) {
        if (!isInPass(userIDToBytes(user.userID), 0)) continue;
        yield auditOtherRoot(root, user, index, rootOf, (root) => audited.has(root));
      }
    }
  }
}

/** A copy of the users that fulfil a condition. */
function usersWhere(users: Uint8Array, isKept: (bytes: Uint8Array, at: number) => boolean): Uint8Array {
  const kept = new Uint8Array(users.length);
  let length = 0;
  for (let at = 0; at < users.length; at += USER_BYTES) {
    if (!isKept(users, at)) continue;
    kept.set(users.subarray(at, at + USER_BYTES), length);
    length += USER_BYTES;
  }
  return kept.slice(0, length);
}

/** Reports users who are in several files with different keys. @param rootOf the root of a file, by its number */
function* auditKeysOfUsers(users: UserIndex, rootOf: (file: number) => string): Generator<Finding> {
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
function auditOtherRoot(
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
