import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { lstat, mkdir, open, readdir, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { TransportError } from "keyroot/errors";
import { syncFolder } from "./folder.ts";

/**
 * A draft that nobody has written to for an hour is left behind: who writes one does so without a pause. A writer that was
 * asleep for as long, and misses its draft then, ends with FILE_UNWRITABLE, and nothing half-written.
 */
export const ABANDONED_AFTER_MS = 3_600_000;

/**
 * Writes a small file whole or not at all, in the place of one that stands there: no reader sees half of it. Its folder
 * is made when it is missing, and a draft of it that was left there is removed.
 * @param mode the file's permissions, less what the process's umask takes away
 * @throws TransportError FILE_UNWRITABLE
 */
export async function writeWhole(path: string, text: string, mode = 0o666): Promise<void> {
  try {
    const [dir, own] = [dirname(path), basename(path)];
    await mkdir(dir, { recursive: true });
    await removeDrafts(dir, (name) => name === own, Date.now() - ABANDONED_AFTER_MS);
    await withDraft(path, async (draft) => {
      await writeToDisk(draft, text, mode);
      await rename(draft, path);
      await syncFolder(dir);
    });
  } catch (cause) {
    const message = `${path} cannot be written: ${(cause as Error).message}.`;
    throw new TransportError("FILE_UNWRITABLE", message, { cause });
  }
}

/**
 * Hands out a name beside a path, under which `work` may write what is to stand there. What it has not moved away by its
 * end is removed, also where the process exits in the middle.
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

/** A draft's name: a dot, the name of what it is a draft of, a dot, and what `randomUUID` gives (RFC 9562). */
const DRAFT = /^\.(.+)\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Removes drafts from a folder that were left behind by processes that could not tidy up, killed by `kill -9` or a power
 * cut.
 * @param isOurs tells of which files the drafts are, by the files' names
 * @param before spares a draft that was written to since then, in ms since 1970; default: none, for where nobody else can
 * be writing one
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
      // Its writer or somebody else was faster, or it is not ours to remove: it is in nobody's way.
    }
  }
}

/** At once, since it may be the last thing that the process does. */
function discardDraft(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Its folder is none, or is gone.
  }
}

async function writeToDisk(path: string, text: string, mode: number): Promise<void> {
  await using file = await open(path, "wx", mode);
  await file.writeFile(text);
  await file.sync();
}
