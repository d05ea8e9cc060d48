import { type FileHandle, open, stat } from "node:fs/promises";
import { ArgumentError } from "../errors.ts";
import { unreadableInput } from "./fileErrors.ts";

const READ_BY_GROUP = 0o040;
const READ_BY_OTHERS = 0o004;
const WRITTEN_BY_OTHERS = 0o022;

/**
 * Returns true if other accounts can read or write a secret file. One exception lets root provide secrets to a process
 * that does not run as root: the group may read a file that root owns. PostgreSQL applies the same rule to its TLS key
 * ("Secure TCP/IP Connections with SSL").
 * @param file the mode of the file, and the user id of its owner
 * @param uid the effective user id of the process
 */
export function isOpenToOthers({ mode, uid: owner }: { mode: number; uid: number }, uid: number): boolean {
  const groupMayRead = owner === 0 && uid !== 0;
  return (mode & (READ_BY_OTHERS | WRITTEN_BY_OTHERS | (groupMayRead ? 0 : READ_BY_GROUP))) !== 0;
}

/**
 * Reads a file that contains a secret. The permissions are checked on the opened file. If they were checked by the path
 * before, another file could take its place in between.
 * @param variable the environment variable that contains the path
 * @throws ArgumentError FILE_PERMISSIONS if other accounts can read or write the file (`isOpenToOthers`);
 *   FILE_UNREADABLE
 */
export async function readSecretFile(path: string, maxBytes: number, variable?: string): Promise<string> {
  let file: FileHandle;
  try {
    file = await open(path);
  } catch (cause) {
    throw unreadableInput(path, cause, variable);
  }
  await using opened = file;
  const found = await opened.stat();
  // Windows has no POSIX modes. On Windows, Node reports every file as readable by all accounts.
  if (process.platform !== "win32" && isOpenToOthers(found, process.geteuid?.() ?? 0)) {
    const mode = toOctal(found.mode);
    const message = `${path} contains a secret, but other accounts can read or write it (mode ${mode}). Run 'chmod 600 ${path}'.`;
    throw new ArgumentError("FILE_PERMISSIONS", message, { expected: "600", actual: mode });
  }
  try {
    const { bytesRead, buffer } = await opened.read(Buffer.alloc(maxBytes + 1));
    if (bytesRead <= maxBytes) return buffer.subarray(0, bytesRead).toString();
  } catch (cause) {
    throw unreadableInput(path, cause, variable);
  }
  throw new ArgumentError("FILE_UNREADABLE", `${path} has more than ${maxBytes} bytes.`);
}

/** Checks that only the owner can write to a folder, if the folder exists. @throws ArgumentError FILE_PERMISSIONS */
export async function checkPrivateFolder(dir: string): Promise<void> {
  await checkNotWritable(dir, "700", `Other accounts can change the files in ${dir}`);
}

/** Checks that only the owner can write to a file, if the file exists. @throws ArgumentError FILE_PERMISSIONS */
export async function checkPrivateFile(path: string): Promise<void> {
  await checkNotWritable(path, "600", `Other accounts can change ${path}`);
}

async function checkNotWritable(path: string, expected: string, problem: string): Promise<void> {
  // Windows has no POSIX modes.
  if (process.platform === "win32") return;
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || (found.mode & WRITTEN_BY_OTHERS) === 0) return;
  const actual = toOctal(found.mode);
  const message = `${problem} (mode ${actual}). Check the content, and run 'chmod ${expected} ${path}'.`;
  throw new ArgumentError("FILE_PERMISSIONS", message, { expected, actual });
}

function toOctal(mode: number): string {
  return (mode & 0o777).toString(8).padStart(3, "0");
}
