import { userIDToBytes } from "keyroot/internal/identity";
import { StateDatabase } from "../disk/stateDatabase.ts";
import { USER_BYTES } from "./auditFile.ts";
import type { UserWithOtherRoot } from "./auditRoot.ts";
import { type Finding, finding } from "./finding.ts";
import { stateFormat } from "./openStateFile.ts";
import { makeUserHash } from "./userHash.ts";
import { type IndexedUser, UserIndex } from "./userIndex.ts";

/** The maximum number of users in memory at the same time. This many take about 180 MB. */
const USERS_PER_PASS = 4_000_000;

/** The users of all audited files. */
export interface AllUsers {
  /** The roots of the files, the oldest first. */
  roots: readonly string[];
  /** The number of users in all files. */
  count: number;
  /** Returns the users in a root's file, in `USER_BYTES` bytes each, or undefined if the root has no valid file. */
  usersOf(root: string): Uint8Array | undefined;
  /** Returns the users who have a different root in the contract. `root` is the root of the users' file. */
  others(): Iterable<{ root: string; users: readonly UserWithOtherRoot[] }>;
}

/**
 * The temporary table of all files' users. Each row contains the users of one file that belong to one pass; `file` is
 * the index of the file's root.
 */
const DIVIDED = stateFormat({
  applicationId: 0,
  version: 1,
  maxBytes: Infinity,
  tables: [
    `CREATE TABLE users (
  pass INTEGER NOT NULL,
  file INTEGER NOT NULL,
  users BLOB NOT NULL,
  PRIMARY KEY (pass, file)
) STRICT, WITHOUT ROWID`,
  ],
});

/**
 * Compares the users of all files with each other, in several passes. The hash of a user's id selects the pass, so all
 * entries of a user are compared in the same one. The users of each pass are kept in a temporary file. Therefore memory
 * does not grow with the number of users, and the time grows in proportion to it.
 * @param usersPerPass the mean number of users in a pass
 * @throws TransportError FILE_UNWRITABLE if the temporary file cannot be written
 */
export function* auditUsers(all: AllUsers, usersPerPass = USERS_PER_PASS): Generator<Finding> {
  const hash = makeUserHash();
  const passes = Math.max(1, Math.ceil(all.count / usersPerPass));
  const passOf = (bytes: Uint8Array, at: number) => hash(bytes, at) % passes;
  using divided = StateDatabase.temporary(DIVIDED);
  const audited = divideUsers(all, passOf, divided);
  for (let pass = 0; pass < passes; pass++) {
    const index = new UserIndex(hash);
    const files: string[] = [];
    for (const { file, users } of divided.rows("SELECT file, users FROM users WHERE pass = ? ORDER BY file", pass))
      files[index.add(users as Uint8Array)] = all.roots[Number(file)] ?? "";
    const rootOf = (file: number) => files[file] ?? "";
    yield* auditKeysOfUsers(index, rootOf);
    for (const { root, users } of all.others()) {
      for (const user of users) {
        if (passOf(userIDToBytes(user.userID), 0) !== pass) continue;
        yield auditOtherRoot(root, user, index, rootOf, (root) => audited.has(root));
      }
    }
  }
}

/** Writes the users of all files to the database by pass. Returns the roots with valid files. */
function divideUsers(
  all: AllUsers,
  passOf: (bytes: Uint8Array, at: number) => number,
  database: StateDatabase,
): ReadonlySet<string> {
  const audited = new Set<string>();
  database.transaction(() => {
    for (const [file, root] of all.roots.entries()) {
      const users = all.usersOf(root);
      if (users === undefined) continue;
      audited.add(root);
      const positions = new Map<number, number[]>();
      for (let at = 0; at < users.length; at += USER_BYTES) {
        const pass = passOf(users, at);
        const known = positions.get(pass);
        if (known === undefined) positions.set(pass, [at]);
        else known.push(at);
      }
      for (const [pass, some] of positions)
        database.run("INSERT INTO users VALUES (?, ?, ?)", pass, file, usersAt(users, some));
    }
  });
  return audited;
}

/** Copies the entries that begin at these positions. */
function usersAt(users: Uint8Array, positions: readonly number[]): Uint8Array {
  const copy = new Uint8Array(positions.length * USER_BYTES);
  for (const [i, at] of positions.entries()) copy.set(users.subarray(at, at + USER_BYTES), i * USER_BYTES);
  return copy;
}

/** Reports users who have different keys in several files. @param rootOf returns a file's root by the file's number */
function* auditKeysOfUsers(users: UserIndex, rootOf: (file: number) => string): Generator<Finding> {
  for (const entries of users.inSeveralFiles()) {
    const [first] = entries as [IndexedUser];
    const other = entries.find(({ keyID }) => Buffer.compare(keyID, first.keyID) !== 0);
    if (other === undefined) continue;
    const { userID } = first;
    const message = `The user ${userID} has different keys in the files of ${rootOf(first.file)} and ${rootOf(other.file)}.`;
    yield finding("USER_TWO_KEYS", message, { root: rootOf(other.file), userID });
  }
}

/**
 * Reports a user who is in a root's file but has a different root. The finding is only a notice if the file of that
 * other root contains the user as well.
 * @param isAudited returns whether a root's file is valid, so that its users are in `users`
 */
function auditOtherRoot(
  root: string,
  { userID, userRoot }: UserWithOtherRoot,
  users: UserIndex,
  rootOf: (file: number) => string,
  isAudited: (root: string) => boolean,
): Finding {
  if (isAudited(userRoot) && !users.find(userID).some(({ file }) => rootOf(file) === userRoot)) {
    const message = `The user ${userID} has the root ${userRoot} in the contract, but the file of this root does not contain the user. The file of ${root} contains the user.`;
    return finding("USER_NOT_IN_FILE", message, { root: userRoot, userID });
  }
  const message = `The user ${userID} is in the file of ${root}, but has the earlier root ${userRoot}.`;
  return finding("USER_SUPERSEDED", message, { root, userID });
}
