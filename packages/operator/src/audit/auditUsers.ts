import { USER_ID_BYTES, userIDFromBytes, userIDToBytes } from "keyroot/internal/identity";
import { StateDatabase } from "../disk/stateDatabase.ts";
import { USER_BYTES } from "./auditFile.ts";
import type { UserWithOtherRoot } from "./auditRoot.ts";
import type { RecordedOthers } from "./auditState.ts";
import { type Finding, finding } from "./finding.ts";
import { stateFormat } from "./openStateFile.ts";

/** The users of all audited files. */
export interface AllUsers {
  /** The roots of the files, the oldest first. */
  roots: readonly string[];
  /** Returns the users in a root's file, with `USER_BYTES` bytes each. Undefined if the root has no valid file. */
  usersOf: (root: string) => Uint8Array | undefined;
  /** Returns the users who have a different root in the contract. `root` is the root of the users' file. */
  others: () => Iterable<RecordedOthers>;
}

/** The temporary table of all files' users. `file` is the position of the file's root. */
const USERS = stateFormat({
  applicationId: 0,
  version: 1,
  maxBytes: Infinity,
  tables: [
    `CREATE TABLE users (
  user_id BLOB NOT NULL,
  file INTEGER NOT NULL,
  key_id BLOB NOT NULL
) STRICT`,
  ],
});

/** Finds the users with several keys: the oldest file of each, and the oldest file with another key. */
const TWO_KEYS = `
  SELECT user_id, first, min(file) AS other FROM (
    SELECT *, first_value(file) OVER by_age AS first, first_value(key_id) OVER by_age AS first_key_id FROM users
    WHERE user_id IN (SELECT user_id FROM users GROUP BY user_id HAVING count(*) > 1)
    WINDOW by_age AS (PARTITION BY user_id ORDER BY file)
  ) WHERE key_id <> first_key_id GROUP BY user_id`;

/**
 * Reports users who have different keys in two files, or who are in the file of a root that is not theirs. A temporary
 * file holds all users, so memory does not grow with their number.
 * @throws TransportError FILE_UNWRITABLE if the temporary file cannot be written
 */
export function* auditUsers({ roots, usersOf, others }: AllUsers): Generator<Finding> {
  using database = StateDatabase.temporary(USERS);
  const files = new Map<string, number>();
  database.transaction(() => {
    for (const [file, root] of roots.entries()) {
      const users = usersOf(root);
      if (users === undefined) continue;
      files.set(root, file);
      for (let at = 0; at < users.length; at += USER_BYTES) {
        const [keyAt, end] = [at + USER_ID_BYTES, at + USER_BYTES];
        const values = [users.subarray(at, keyAt), file, users.subarray(keyAt, end)];
        database.run("INSERT INTO users VALUES (?, ?, ?)", ...values);
      }
    }
    database.run("CREATE INDEX users_by_id ON users (user_id)");
  });
  for (const { user_id, first, other } of database.rows(TWO_KEYS)) {
    const userID = userIDFromBytes(user_id as Uint8Array);
    const root = roots[Number(other)] ?? "";
    const message = `The user ${userID} has different keys in the files of ${roots[Number(first)]} and ${root}.`;
    yield finding("USER_TWO_KEYS", message, { root, userID });
  }
  const isIn = (file: number, userID: string) =>
    database.row("SELECT 1 FROM users WHERE user_id = ? AND file = ?", userIDToBytes(userID), file) !== undefined;
  for (const { root, users } of others())
    for (const user of users) {
      const file = files.get(user.userRoot);
      yield auditOtherRoot(root, user, file === undefined || isIn(file, user.userID));
    }
}

/**
 * Reports a user who is in the file of one root, but has a different root in the contract. This is damage only if the
 * file of the user's own root does not contain the user. If that file is missing or invalid, it has a finding of its
 * own, so the result here is only a notice.
 */
function auditOtherRoot(root: string, { userID, userRoot }: UserWithOtherRoot, isInOtherFile: boolean): Finding {
  if (!isInOtherFile) {
    const message = `The user ${userID} has the root ${userRoot} in the contract, but the file of this root does not contain the user. The file of ${root} contains the user.`;
    return finding("USER_NOT_IN_FILE", message, { root: userRoot, userID });
  }
  const message = `The user ${userID} is in the file of ${root}, but has the earlier root ${userRoot}.`;
  return finding("USER_SUPERSEDED", message, { root, userID });
}
