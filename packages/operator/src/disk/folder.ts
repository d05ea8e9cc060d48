import { mkdir, open, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/**
 * Creates a folder and its missing parents. It does not use the recursive `mkdir` of Node 24, which never returns in
 * file systems such as /proc.
 * @param mode the permissions of new folders, before the process's umask is applied
 * @returns the topmost folder that was created, or undefined if the folder existed
 * @throws the system's error
 */
export async function createFolders(dir: string, mode = 0o777): Promise<string | undefined> {
  const path = resolve(dir);
  if (await isFolder(path)) return undefined;
  const parent = dirname(path);
  const first = parent === path ? undefined : await createFolders(parent, mode);
  try {
    await mkdir(path, { mode });
  } catch (error) {
    // Another process may have created the folder in the meantime.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !(await isFolder(path))) throw error;
  }
  return first ?? path;
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return false;
  }
}

/**
 * Creates a folder and its missing parents, and syncs them to disk. Only the owner can access the folders that it
 * creates (mode 0700).
 */
export async function makeFolder(dir: string): Promise<void> {
  const path = resolve(dir);
  const first = await createFolders(path, 0o700);
  if (first === undefined) return;
  for (let created = path; created.length >= first.length; created = dirname(created)) {
    await syncFolder(dirname(created));
  }
}

/**
 * Syncs a folder to disk. Otherwise, a power failure can remove the name of a file that was created in it. On Windows,
 * the function does nothing.
 */
export async function syncFolder(dir: string): Promise<void> {
  if (process.platform === "win32") return;
  await using folder = await open(dir);
  await folder.sync();
}
