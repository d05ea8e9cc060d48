import type { Dirent } from "node:fs";
import { constants, open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type UserID, userIDToHex } from "keyroot/internal/identity";
import { checkNames } from "keyroot/internal/input";
import { MERKLE_ROOT } from "keyroot/internal/merkle";
import { checkSourceUrl, DEFAULT_LIMITS, fetchAccountFile, fetchMerkleFile } from "keyroot/internal/transport";
import { checkOptions } from "../checkOptions.ts";
import { cannotRead, ifExists } from "../disk/fileErrors.ts";
import { nodeFetch } from "../http/nodeFetch.ts";
import { TransportError, VerificationError } from "../errors.ts";
import { FILE_HOST_RETRY, type RetryOptions, withRetry } from "../http/retry.ts";

/**
 * Where Merkle-tree files are read from: a host, or a folder on this machine. The folder may have subfolders, for
 * example one per region. Files directly in a subfolder are read, too.
 */
export type FileSource = ({ merkleUrl: string } | { dir: string }) & {
  /** The maximum file size in bytes. Larger files are rejected. */
  maxBytes: number;
  /** The maximum time to read one file, in ms. */
  timeoutMs: number;
  /** Allows unencrypted http to other machines. Default: false. */
  allowHttp?: boolean | undefined;
  /** The retries of a host's temporary failures. Default: 3 retries, starting after 500 ms. */
  retry?: RetryOptions | undefined;
};

/** The subfolder with account files (docs/formats.md, "Account file"). */
const ACCOUNTS = "accounts";
export const MAX_ACCOUNT_FILE_BYTES = 2 ** 15;

/**
 * Reads a user's account files without checking their content. There can be two: the file with the current key, and a
 * file with a key change that is being published. A missing file is left out.
 * @throws TransportError FILE_UNREADABLE, ANSWER_TOO_LARGE, and the errors of a host
 */
export async function readAccountFiles(userID: UserID, source: FileSource): Promise<Uint8Array[]> {
  const hex = userIDToHex(userID);
  const read = async (suffix: "" | ".next"): Promise<Uint8Array[]> => {
    const options = { ...source, maxBytes: MAX_ACCOUNT_FILE_BYTES };
    if ("dir" in source) {
      const name = join(ACCOUNTS, `${hex}${suffix}.txt`);
      const folders = ["", ...(await subfoldersOf(source.dir))];
      const found = folders.map((folder) => readFileAt(join(source.dir, folder, name), options.maxBytes));
      return (await Promise.all(found)).flatMap((bytes) => bytes ?? []);
    }
    const { timeoutMs, allowHttp, maxBytes } = options;
    const fetching = { maxBytes, timeoutMs, allowHttp, fetch: nodeFetch };
    try {
      const fetch = () => fetchAccountFile(source.merkleUrl, hex, fetching, suffix);
      return [await withRetry(fetch, source.retry ?? FILE_HOST_RETRY)];
    } catch (error) {
      if (error instanceof VerificationError && error.code === "ACCOUNT_MISSING") return [];
      throw error;
    }
  };
  return [...(await read("")), ...(await read(".next"))];
}

/** Checks the option `files`. @throws ArgumentError ARGUMENT_INVALID */
export function checkFileSource(source: FileSource): void {
  checkNames("The files option's fields", source, ["merkleUrl", "dir", "maxBytes", "timeoutMs", "allowHttp", "retry"]);
  if (!("dir" in source)) checkSourceUrl("merkleUrl", source.merkleUrl, source.allowHttp);
}

/**
 * Reads a root's file without checking its content.
 * @param root 64 lowercase hex digits
 * @throws VerificationError FILE_NOT_FOUND; TransportError FILE_UNREADABLE, ANSWER_TOO_LARGE, and the errors of
 *   `fetchMerkleFile`
 */
export async function readFileOf(root: string, source: FileSource): Promise<Uint8Array> {
  const { maxBytes, timeoutMs, allowHttp, retry = FILE_HOST_RETRY } = source;
  if ("dir" in source) return readFromFolder(source.dir, root, maxBytes);
  const options = { maxBytes, timeoutMs, allowHttp, fetch: nodeFetch };
  return withRetry(() => fetchHostedFile(source.merkleUrl, root, options), retry);
}

/** What else a file host's error may mean, by its code or status. */
const REMEDIES: Readonly<Record<string, string>> = {
  REDIRECT_REFUSED: "Use the final address. A host may also redirect if a file is missing.",
  // Object stores report a missing file as forbidden if the reader may not list the bucket.
  403: "The file may be missing: check the store's rights, such as s3:ListBucket.",
};

/** Fetches a file as clients do, but completes errors with the operator's remedy. */
async function fetchHostedFile(...args: Parameters<typeof fetchMerkleFile>): Promise<Uint8Array> {
  try {
    return await fetchMerkleFile(...args);
  } catch (error) {
    const remedy = error instanceof TransportError ? REMEDIES[error.status ?? error.code] : undefined;
    if (remedy !== undefined) (error as TransportError).message += ` ${remedy}`;
    throw error;
  }
}

/**
 * Fetches a root's file from the host that clients use.
 * @param root 64 lowercase hex digits
 * @param maxBytes the maximum number of bytes to read; a larger file fails with ANSWER_TOO_LARGE
 */
export type FetchFile = (root: string, maxBytes: number) => Promise<Uint8Array>;

export interface FileHostOptions {
  /** The retries of a failed request. Default: 3. A host that fails for longer would also fail for clients. */
  retry?: RetryOptions | undefined;
  /** Allows unencrypted http to other machines. Default: false. */
  allowHttp?: boolean | undefined;
}

/**
 * Creates a function that fetches Merkle-tree files from the file host over HTTP, as clients do.
 * @param merkleUrl the URL under which files are served
 * @returns a function that throws the errors of `readFileOf`
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function fetchFromHost(merkleUrl: string, options: FileHostOptions = {}): FetchFile {
  const { retry, allowHttp } = checkOptions("The options of fetchFromHost", options, { retry: true, allowHttp: true });
  const source = { merkleUrl, timeoutMs: DEFAULT_LIMITS.timeoutMs, allowHttp, retry };
  checkFileSource({ ...source, maxBytes: DEFAULT_LIMITS.fileBytes });
  return (root, maxBytes) => readFileOf(root, { ...source, maxBytes });
}

/**
 * Returns the sorted names of entries in a folder that belong to none of the roots. A root can have a file, a
 * compressed copy, and a folder of proofs and bundles. Names that begin with a dot are skipped, because they belong to
 * unfinished files.
 * @returns names relative to the folder, such as `eu-west-1/notes.txt`
 * @throws TransportError FILE_UNREADABLE
 */
export async function findStrayFiles(dir: string, roots: ReadonlySet<string>): Promise<string[]> {
  const subfolders = await subfoldersOf(dir);
  const strays = ["", ...subfolders].map(async (subfolder) => {
    const entries = await listFolder(join(dir, subfolder));
    const stray = entries.filter((entry) => {
      if (entry.name.startsWith(".") || (subfolder === "" && subfolders.includes(entry.name))) return false;
      if (entry.name === ACCOUNTS && entry.isDirectory()) return false;
      const root = entry.isDirectory() ? entry.name : entry.name.replace(/\.json(?:\.br)?$/, "");
      return !roots.has(root) || (!entry.isDirectory() && root === entry.name);
    });
    return stray.map(({ name }) => (subfolder === "" ? name : `${subfolder}/${name}`));
  });
  return (await Promise.all(strays)).flat().sort();
}

/**
 * The subfolders that were found in each folder. They are remembered, because a folder can have many files, and listing
 * it again for every file would take long.
 */
const foundSubfolders = new Map<string, readonly string[]>();

async function readFromFolder(dir: string, root: string, maxBytes: number): Promise<Uint8Array> {
  const name = `${root}.json`;
  const tried = ["", ...(foundSubfolders.get(dir) ?? [])];
  for (const subfolder of tried) {
    const bytes = await readFileAt(join(dir, subfolder, name), maxBytes);
    if (bytes !== undefined) return bytes;
  }
  // The publisher creates a region's subfolder for the region's first file.
  const subfolders = await subfoldersOf(dir);
  foundSubfolders.set(dir, subfolders);
  for (const subfolder of subfolders) {
    if (tried.includes(subfolder)) continue;
    const bytes = await readFileAt(join(dir, subfolder, name), maxBytes);
    if (bytes !== undefined) return bytes;
  }
  const message = `${dir} and its subfolders do not contain the file ${name}.`;
  throw new VerificationError("file", "FILE_NOT_FOUND", message, { expected: name });
}

/**
 * Returns the names of the subfolders that may contain files of other regions. These are all folders and links to
 * folders, except hidden ones, the folder of account files, and the folders that belong to a root.
 * @throws TransportError FILE_UNREADABLE
 */
async function subfoldersOf(dir: string): Promise<string[]> {
  const entries = await listFolder(dir);
  const isFolder = async (entry: Dirent) =>
    entry.isDirectory() || (entry.isSymbolicLink() && (await ifExists(stat(join(dir, entry.name))))?.isDirectory());
  const others = entries.filter(
    (entry) =>
      !entry.isFile() && !entry.name.startsWith(".") && entry.name !== ACCOUNTS && !MERKLE_ROOT.test(entry.name),
  );
  const found = others.map(async (entry) => ((await isFolder(entry)) ? [entry.name] : []));
  return (await Promise.all(found)).flat().sort();
}

async function listFolder(dir: string): Promise<Dirent[]> {
  try {
    return await readdir(dir, { withFileTypes: true });
  } catch (cause) {
    throw cannotRead(dir, cause);
  }
}

async function readFileAt(path: string, maxBytes: number): Promise<Uint8Array | undefined> {
  try {
    // With O_NONBLOCK, opening a named pipe does not wait for a writer. Read only regular files, because a device may
    // have no end.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = await file.stat();
    if (!found.isFile()) throw new TransportError("FILE_UNREADABLE", `${path} is not a regular file.`);
    const { size } = found;
    if (size <= maxBytes) return await file.readFile();
    const message = `${path} has ${size} bytes. The maximum is ${maxBytes} bytes.`;
    throw new TransportError("ANSWER_TOO_LARGE", message, { expected: maxBytes, actual: size });
  } catch (cause) {
    if (cause instanceof TransportError) throw cause;
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw cannotRead(path, cause);
  }
}
