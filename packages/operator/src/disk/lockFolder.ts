import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { TransportError } from "keyroot/errors";

const LOCK = "lock";
/** SQLITE_BUSY, of SQLite's result codes: another connection holds the lock. */
const BUSY = 5;

/**
 * Takes a folder for this process alone, by a lock of the operating system on a file in it: the system gives it back when
 * the process ends, however it ends. The folder is made when it is missing. All who ask must be on one machine: a network's
 * file system may have no locks. Nothing else in this process may open that file: POSIX gives a lock back when any
 * descriptor of its file is closed (fcntl), and keeps nobody out of a folder that was removed and made again.
 * @returns gives the folder back when it is disposed of; undefined where somebody else has the folder
 * @throws TransportError FILE_UNWRITABLE
 */
export async function lockFolder(dir: string): Promise<Disposable | undefined> {
  const path = join(dir, LOCK);
  let database: DatabaseSync | undefined;
  try {
    await mkdir(dir, { recursive: true });
    database = new DatabaseSync(path);
    // SQLite knows each system's own locks. Its lock on an empty database is all that is wanted, so nothing is committed, and
    // no journal written either. IMMEDIATE, not EXCLUSIVE: of two at the same moment, EXCLUSIVE may refuse both. A file that
    // may only be read it opens all the same, and takes no lock that keeps anybody out: this shows in the change.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE; PRAGMA user_version = 1");
  } catch (cause) {
    database?.close();
    if ((cause as { errcode?: number }).errcode === BUSY) return undefined;
    throw new TransportError("FILE_UNWRITABLE", `${path} cannot be locked: ${(cause as Error).message}.`, { cause });
  }
  const held = database;
  return {
    [Symbol.dispose]: () => {
      held.close();
    },
  };
}
