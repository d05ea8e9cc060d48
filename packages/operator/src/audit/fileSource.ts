import { constants, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { checkNames } from "keyroot/internal/input";
import { checkSourceUrl, fetchMerkleFile } from "keyroot/internal/transport";
import { cannotRead } from "../disk/fileErrors.ts";
import { TransportError, VerificationError } from "../errors.ts";

/** The source of Merkle-tree files: a host, or a folder on this machine. */
export type FileSource = ({ merkleUrl: string } | { dir: string }) & {
  /** The maximum file size in bytes. Larger files are rejected. */
  maxBytes: number;
  /** The maximum time to read one file, in ms. */
  timeoutMs: number;
  /** Allows unencrypted http to other machines. Default: false. */
  allowHttp?: boolean | undefined;
};

/** Checks the option `files`. @throws ArgumentError ARGUMENT_INVALID */
export function checkFileSource(source: FileSource): void {
  checkNames("The files option's fields", source, ["merkleUrl", "dir", "maxBytes", "timeoutMs", "allowHttp"]);
  if (!("dir" in source)) checkSourceUrl("merkleUrl", source.merkleUrl, source.allowHttp);
}

/**
 * Returns the folder or the host's URL as text. The text omits the URL's query, because the query may contain secrets.
 */
export function describeFileSource(source: FileSource): string {
  if ("dir" in source) return source.dir;
  const { origin, pathname } = new URL(source.merkleUrl);
  return origin + pathname;
}

/**
 * Reads a root's file without a check of the content.
 * @param root 64 lowercase hex digits
 * @throws VerificationError FILE_NOT_FOUND; TransportError FILE_UNREADABLE, ANSWER_TOO_LARGE, and the errors of
 * `fetchMerkleFile`
 */
export async function readFileOf(root: string, source: FileSource): Promise<Uint8Array> {
  const { maxBytes, timeoutMs, allowHttp } = source;
  return "dir" in source
    ? readFromFolder(source.dir, root, maxBytes)
    : fetchMerkleFile(source.merkleUrl, root, { maxBytes, timeoutMs, allowHttp });
}

/**
 * Returns the sorted names in a folder that belong to none of the roots. A root can have a file, a compressed copy, and
 * a folder of proofs and bundles. The function skips names that begin with a dot, because these names
 * belong to unfinished files.
 * @throws TransportError FILE_UNREADABLE
 */
export async function findStrayFiles(dir: string, roots: ReadonlySet<string>): Promise<string[]> {
  try {
    const entries = await readdir(dir, { withFileTypes: true });
    const strays = entries.filter((entry) => {
      const root = entry.isDirectory() ? entry.name : entry.name.replace(/\.json(?:\.br)?$/, "");
      return !entry.name.startsWith(".") && (!roots.has(root) || (!entry.isDirectory() && root === entry.name));
    });
    return strays.map(({ name }) => name).sort();
  } catch (cause) {
    throw cannotRead(dir, cause);
  }
}

async function readFromFolder(dir: string, root: string, maxBytes: number): Promise<Uint8Array> {
  const path = join(dir, `${root}.json`);
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer. Read only regular files, because a device may have no
    // end.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = await file.stat();
    if (!found.isFile()) throw new TransportError("FILE_UNREADABLE", `${path} is not a regular file.`);
    const { size } = found;
    if (size <= maxBytes) return await file.readFile();
    const message = `${path} has ${size} bytes. The maximum is ${maxBytes} bytes.`;
    throw new TransportError("ANSWER_TOO_LARGE", message, { expected: maxBytes, actual: size });
  } catch (cause) {
    if (cause instanceof TransportError) throw cause;
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cannotRead(path, cause);
    const message = `${dir} does not contain the file ${root}.json.`;
    throw new VerificationError("file", "FILE_NOT_FOUND", message, { expected: `${root}.json` });
  }
}
