import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { TransportError, VerificationError } from "keyroot/errors";
import { fetchMerkleFile } from "keyroot/transport";

/** Where the files are: a host, or a folder of this machine; and what one may cost. */
export type FileSource = ({ merkleUrl: string } | { dir: string }) & {
  /** The most bytes of a file. */
  maxBytes: number;
  timeoutMs: number;
};

/**
 * Reads a root's file. Nothing of it has been checked.
 * @param root 64 hex digits in lower case
 * @throws VerificationError FILE_NOT_FOUND; TransportError FILE_UNREADABLE, and as `fetchMerkleFile`
 */
export async function readFileOf(root: string, source: FileSource): Promise<Uint8Array> {
  return "dir" in source
    ? readFromFolder(source.dir, root, source.maxBytes)
    : fetchMerkleFile(source.merkleUrl, root, source);
}

/**
 * The names in a folder that belong to none of these roots; a root has its file and, beside it, a folder of proofs and
 * bundles. What begins with a dot is being written.
 * @throws TransportError FILE_UNREADABLE
 */
export async function straysIn(dir: string, roots: ReadonlySet<string>): Promise<string[]> {
  try {
    const entries = await readdir(dir, { withFileTypes: true });
    const strays = entries.filter((entry) => {
      const root = entry.isDirectory() ? entry.name : entry.name.replace(/\.json$/, "");
      return !entry.name.startsWith(".") && (!roots.has(root) || (!entry.isDirectory() && root === entry.name));
    });
    return strays.map(({ name }) => name).sort();
  } catch (cause) {
    throw unreadable(dir, cause);
  }
}

async function readFromFolder(dir: string, root: string, maxBytes: number): Promise<Uint8Array> {
  const path = join(dir, `${root}.json`);
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    if (size <= maxBytes) return await file.readFile();
    const message = `${path} has ${size} bytes, at most ${maxBytes} are read.`;
    throw new TransportError("ANSWER_TOO_LARGE", message, { expected: maxBytes, actual: size });
  } catch (cause) {
    if (cause instanceof TransportError) throw cause;
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw unreadable(path, cause);
    const message = `${dir} does not have the file ${root}.json.`;
    throw new VerificationError("file", "FILE_NOT_FOUND", message, { expected: `${root}.json` });
  }
}

function unreadable(path: string, cause: unknown): TransportError {
  return new TransportError("FILE_UNREADABLE", `${path} cannot be read: ${(cause as Error).message}.`, { cause });
}
