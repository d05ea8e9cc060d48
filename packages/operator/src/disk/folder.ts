import { mkdir, open } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/** Creates a folder and its missing parents, for their owner alone (mode 0700), and syncs them to disk. */
export async function makeFolder(dir: string): Promise<void> {
  const path = resolve(dir);
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let created = path; created.length >= first.length; created = dirname(created)) {
    await syncFolder(dirname(created));
  }
}

/** Syncs a folder to disk: after a power cut, a new file name is only certain to exist then. Windows has no such call. */
export async function syncFolder(dir: string): Promise<void> {
  if (process.platform === "win32") return;
  await using folder = await open(dir);
  await folder.sync();
}
