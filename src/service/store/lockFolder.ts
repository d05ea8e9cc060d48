import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ArgumentError } from "../../errors.ts";

/**
 * Takes a folder for this process alone, by a file that names the process; one whose process is gone is taken over.
 * @returns gives the folder back
 * @throws ArgumentError DATABASE_LOCKED
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, "lock");
  await mkdir(folder, { recursive: true });
  for (;;) {
    try {
      await writeFile(path, String(process.pid), { flag: "wx" });
      return () => rm(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const holder = Number(await readFile(path, "utf8").catch(() => ""));
    if (isAlive(holder)) {
      const message = `The process ${holder} uses the database in ${folder}: ask that one, or stop it.`;
      throw new ArgumentError("DATABASE_LOCKED", message, { actual: holder });
    }
    await rm(path, { force: true });
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
