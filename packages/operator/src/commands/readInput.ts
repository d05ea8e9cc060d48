import { readFile, stat } from "node:fs/promises";
import { ArgumentError } from "keyroot/errors";

/** The bytes of a file that an argument names; folders and devices are rejected. @throws ArgumentError FILE_UNREADABLE */
export async function readInput(path: string): Promise<Uint8Array> {
  try {
    if ((await stat(path)).isFile()) return await readFile(path);
  } catch (cause) {
    throw new ArgumentError("FILE_UNREADABLE", `${path} cannot be read: ${(cause as Error).message}.`, { cause });
  }
  throw new ArgumentError("FILE_UNREADABLE", `${path} is not a file.`);
}
