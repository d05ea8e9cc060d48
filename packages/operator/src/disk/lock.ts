import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TransportError } from "../errors.ts";
import { makeFolder } from "./folder.ts";
import { DatabaseSync, SQLITE, sqliteCode } from "./sqlite.ts";

/**
 * Locks a folder for this process, with a lock on the file `lock` in the folder.
 * @param dir the folder. A missing folder is created with mode 0700
 * @returns a lock, or undefined if this or another process has locked the folder. Disposal releases the lock
 * @throws TransportError FILE_UNWRITABLE
 */
export async function lockFolder(dir: string): Promise<Disposable | undefined> {
  return lockFile(join(dir, "lock"));
}

/**
 * Creates a file, and locks the file for this process with a lock of the operating system. The system releases the lock
 * when the process ends, even after `kill -9`. The empty file remains.
 *
 * Use a local disk, because network file systems may not support locks. Do not open or delete the file elsewhere. A
 * process loses its locks on a file when it closes any descriptor of this file (POSIX, fcntl). If the file is deleted
 * and created again, the new file has no lock.
 * @param path path of the file. A missing folder is created with mode 0700
 * @returns a lock, or undefined if the file is already locked. Disposal releases the lock
 * @throws TransportError FILE_UNWRITABLE
 */
export async function lockFile(path: string): Promise<Disposable | undefined> {
  let database: InstanceType<typeof DatabaseSync> | undefined;
  try {
    await makeFolder(dirname(path));
    await createEmpty(path);
    database = new DatabaseSync(path);
    // SQLite uses the file locks of each operating system. The transaction is never committed, so the file stays empty.
    // Use IMMEDIATE, because EXCLUSIVE may reject both of two processes that start together. SQLite also opens a
    // read-only file without an error, but without an exclusive lock. The change of user_version fails for such a file.
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
 * Creates the file with access for the owner only. SQLite would make the file readable for others. This function never
 * opens an existing file, because closing the file would release the file's lock (`lockFile`).
 */
async function createEmpty(path: string): Promise<void> {
  try {
    await (await open(path, "wx", 0o600)).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
