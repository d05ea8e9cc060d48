import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TransportError } from "../errors.ts";
import { makeFolder } from "./folder.ts";
import { DatabaseSync, SQLITE, sqliteCode } from "./sqlite.ts";

/**
 * Locks a folder for this process by locking a file named `lock` in it.
 * @param dir the folder, which is created with mode 0700 if it is missing
 * @returns a lock that is released by disposal. Undefined if this or another process has already locked the folder
 * @throws TransportError FILE_UNWRITABLE
 */
export async function lockFolder(dir: string): Promise<Disposable | undefined> {
  return lockFile(join(dir, "lock"));
}

/**
 * Creates a file if it is missing, and locks it for this process. The operating system releases the lock when the
 * process ends, even after `kill -9`. The empty file stays.
 *
 * Use a local disk, because network file systems may not support locks. Do not open the file elsewhere: a process loses
 * its locks on a file as soon as it closes any descriptor of that file (POSIX, fcntl). Do not delete it either, because
 * a new file with the same name is not locked.
 * @param path the file, whose folder is created with mode 0700 if it is missing
 * @returns a lock that is released by disposal, or undefined if the file is already locked
 * @throws TransportError FILE_UNWRITABLE
 */
export async function lockFile(path: string): Promise<Disposable | undefined> {
  let database: InstanceType<typeof DatabaseSync> | undefined;
  try {
    await makeFolder(dirname(path));
    await createEmpty(path);
    database = new DatabaseSync(path);
    // An SQLite transaction uses the file locks of each operating system. It is never committed, so the file stays
    // empty. It is IMMEDIATE, because with EXCLUSIVE, SQLite may reject both of two processes that start together.
    // SQLite would open a read-only file without an exclusive lock. Setting user_version makes it fail instead.
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
 * Creates the file with mode 0600, because SQLite would make it readable for others. An existing file is not opened,
 * because closing it would release its lock (`lockFile`).
 */
async function createEmpty(path: string): Promise<void> {
  try {
    await (await open(path, "wx", 0o600)).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
