import { userIDToBytes } from "keyroot/identity";
import { USER_BYTES } from "./auditFile.ts";
import type { UserWithOtherRoot } from "./auditRoot.ts";
import { type Finding, finding } from "./finding.ts";
import { makeUserHash } from "./userHash.ts";
import { type IndexedUser, UserIndex } from "./userIndex.ts";

/** The maximum number of users in memory at a time. They take about 350 MB. */
const USERS_PER_PASS = 8_000_000;

/** The users of all audited files, from one state or from the states of all parts. */
export interface AllUsers {
  /** The roots of the files, the oldest first. */
  roots: readonly string[];
  /** The number of users in all files. */
  count: number;
  /** Returns the users in a root's file, with `USER_BYTES` bytes each. Returns undefined if no file matches the root. */
  usersOf(root: string): Uint8Array | undefined;
  /** Returns, for each root, the users in its file to whom the contract assigns a different root. */
  others(): Iterable<{ root: string; users: readonly UserWithOtherRoot[] }>;
}

/**
 * Compares the users of all files with each other. Each pass reads all users, and keeps those with certain hashes of their
 * ids. Memory does not grow with the number of users. All entries of a user are in the same pass.
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

/** Reports users who have different keys in several files. @param rootOf returns the root of a file by the file's number */
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
 * Reports a user who is in a root's file but has a different root. The finding is a notice if the file of the other root also
 * contains the user.
 * @param isAudited whether the file of a root is valid, so that its users are known
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
