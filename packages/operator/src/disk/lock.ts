import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TransportError } from "../errors.ts";
import { makeFolder } from "./folder.ts";
import { DatabaseSync, SQLITE, sqliteCode } from "./sqlite.ts";

/**
 * Locks a folder for this process, by the lock of a file `lock` in it.
 * @param dir created if it does not exist, for its owner alone (mode 0700)
 * @returns releases the folder when disposed of; undefined if another process, or this one, has locked it
 * @throws TransportError FILE_UNWRITABLE
 */
export async function lockFolder(dir: string): Promise<Disposable | undefined> {
  return lockFile(join(dir, "lock"));
}

/**
 * Creates a file and locks it for this process with a lock of the operating system. The system releases the lock when the
 * process ends, even after `kill -9`. The file stays, empty.
 *
 * Use a local disk: network file systems may have no locks. Do not open or remove the file elsewhere: POSIX releases a
 * process's locks on a file when it closes any descriptor of that file (fcntl), and a file that was removed and created
 * again is another file.
 * @param path its folder is created if it does not exist (mode 0700)
 * @returns releases the lock when disposed of; undefined if the file is locked already
 * @throws TransportError FILE_UNWRITABLE
 */
export async function lockFile(path: string): Promise<Disposable | undefined> {
  let database: InstanceType<typeof DatabaseSync> | undefined;
  try {
    await makeFolder(dirname(path));
    await createEmpty(path);
    database = new DatabaseSync(path);
    // SQLite uses the locks of each operating system. The transaction is never committed, so the file stays empty.
    // IMMEDIATE, because of two processes that start together, EXCLUSIVE may refuse both. SQLite opens a read-only file
    // without an error and without a lock that excludes others: the change of user_version fails then.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE; PRAGMA user_version = 1");
  } catch (cause) {
    database?.close();
    if (sqliteCode(cause) === SQLITE.BUSY) return undefined;
    throw new TransportError("FILE_UNWRITABLE", `Cannot lock ${path}: ${(cause as Error).message}.`, { cause });
  }
  let locked: typeof database | undefined = database;
  return {
    [Symbol.dispose]: () => {
      locked?.close();
      locked = undefined;
    },
  };
}

/**
 * Creates the file for its owner alone; SQLite would make it readable for others. Never opens an existing one: see
 * `lockFile`.
 */
async function createEmpty(path: string): Promise<void> {
  try {
    await (await open(path, "wx", 0o600)).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
