import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { TransportError } from "../errors.ts";

/**
 * Writes a small file whole or not at all, in the place of one that stands there: no reader sees half of it. Its folder
 * is made when it is missing.
 * @throws TransportError FILE_UNWRITABLE
 */
export async function writeWhole(path: string, text: string): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}.${randomUUID()}`);
  try {
    await mkdir(dirname(path), { recursive: true });
    try {
      await writeToDisk(draft, text);
      await rename(draft, path);
    } finally {
      await rm(draft, { force: true });
    }
  } catch (cause) {
    const message = `${path} cannot be written: ${(cause as Error).message}.`;
    throw new TransportError("FILE_UNWRITABLE", message, { cause });
  }
}

async function writeToDisk(path: string, text: string): Promise<void> {
  await using file = await open(path, "wx");
  await file.writeFile(text);
  await file.sync();
}
