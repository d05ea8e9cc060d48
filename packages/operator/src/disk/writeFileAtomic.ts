import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { lstat, open, readdir, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { cannotWrite } from "./fileErrors.ts";
import { createFolders, syncFolder } from "./folder.ts";

/**
 * The age in ms at which an unchanged draft counts as abandoned. A draft is a temporary file beside the final one, and
 * its process writes it without a pause. An older draft was therefore left by a process that was killed. If the process
 * was only suspended, its write later fails with FILE_UNWRITABLE.
 */
export const ABANDONED_AFTER_MS = 3_600_000;

/**
 * Writes or replaces a small file atomically, so that no reader gets an incomplete file. It creates a missing folder,
 * and deletes drafts that a killed process left.
 * @param mode the permissions of the file, before the process's umask is applied
 * @throws TransportError FILE_UNWRITABLE
 */
export async function writeFileAtomic(path: string, content: string | Uint8Array, mode = 0o666): Promise<void> {
  try {
    const [dir, own] = [dirname(path), basename(path)];
    // Create a private folder for a private file.
    await createFolders(dir, (mode & 0o077) === 0 ? 0o700 : 0o777);
    await removeDrafts(dir, (name) => name === own, Date.now() - ABANDONED_AFTER_MS);
    await withDraft(path, async (draft) => {
      await writeToDisk(draft, content, mode);
      await rename(draft, path);
      await syncFolder(dir);
    });
  } catch (cause) {
    throw cannotWrite(path, cause);
  }
}

/**
 * Calls `work` with the path of a draft in the file's folder. `work` must write the draft and rename it to the final
 * name. If `work` fails or the process exits, the draft is deleted.
 */
export async function withDraft<T>(path: string, work: (draft: string) => Promise<T>): Promise<T> {
  const draft = join(dirname(path), `.${basename(path)}.${randomUUID()}`);
  const discard = () => {
    discardDraft(draft);
  };
  process.once("exit", discard);
  try {
    return await work(draft);
  } finally {
    process.off("exit", discard);
    discard();
  }
}

/** The name of a draft: a dot, the name of the final file, a dot, and a UUID (RFC 9562). */
const DRAFT = /^\.(.+)\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Deletes drafts that `kill -9` or a power failure left in a folder.
 * @param isOurs selects drafts by the names of the final files
 * @param before a time in ms since 1970. Drafts that were changed later are kept. By default, all drafts are deleted,
 *   so a lock must then exclude other writers
 */
export async function removeDrafts(dir: string, isOurs: (name: string) => boolean, before = Infinity): Promise<void> {
  for (const entry of await readdir(dir)) {
    const [, name] = DRAFT.exec(entry) ?? [];
    if (name === undefined || !isOurs(name)) continue;
    const path = join(dir, entry);
    try {
      const draft = await lstat(path);
      if (draft.isFile() && draft.mtimeMs < before) await unlink(path);
    } catch {
      // Another process has deleted the draft, or another account owns it. An old draft does no harm.
    }
  }
}

/** Deletes a draft. It is synchronous, because the process may be exiting. */
function discardDraft(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The folder no longer exists.
  }
}

/**
 * Writes a new file and syncs it to disk.
 * @throws the system's error, which is EEXIST if the file exists
 */
export async function writeToDisk(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  await using file = await open(path, "wx", mode);
  await file.writeFile(content);
  await file.sync();
}
