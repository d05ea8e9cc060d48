import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TransportError } from "../errors.ts";
import { makeFolder } from "./folder.ts";
import { DatabaseSync, SQLITE, sqliteCode } from "./sqlite.ts";

/**
 * Locks a folder for this process, with a lock on its file `lock`.
 * @param dir the folder, which is created with mode 0700 if it is missing
 * @returns a lock that is released by disposal, or undefined if this or another process has locked the folder
 * @throws TransportError FILE_UNWRITABLE
 */
export async function lockFolder(dir: string): Promise<Disposable | undefined> {
  return lockFile(join(dir, "lock"));
}

/**
 * Creates a file, and locks it for this process with a lock of the operating system. The system releases the lock when
 * the process ends, even after `kill -9`, but the empty file is not deleted.
 *
 * Use a local disk, because network file systems may not support locks. Do not open the file elsewhere, because a
 * process loses its locks on a file as soon as it closes any descriptor of that file (POSIX, fcntl). Do not delete it
 * either, because a file that is deleted and created again is not locked.
 * @param path path of the file, whose folder is created with mode 0700 if it is missing
 * @returns a lock that is released by disposal, or undefined if the file is already locked
 * @throws TransportError FILE_UNWRITABLE
 */
export async function lockFile(path: string): Promise<Disposable | undefined> {
  let database: InstanceType<typeof DatabaseSync> | undefined;
  try {
    await makeFolder(dirname(path));
    await createEmpty(path);
    database = new DatabaseSync(path);
    // SQLite uses the file locks of each operating system. The transaction is never committed, so the file stays empty.
    // It is IMMEDIATE, because EXCLUSIVE may reject both of two processes that start together. SQLite would also open a
    // read-only file without an error, but without an exclusive lock. Setting user_version makes it fail.
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
 * Creates the file so that only its owner can access it, because SQLite would make it readable for others. An existing
 * file is never opened here: closing it would release its lock (`lockFile`).
 */
async function createEmpty(path: string): Promise<void> {
  try {
    await (await open(path, "wx", 0o600)).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
