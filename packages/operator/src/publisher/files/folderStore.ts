import { createHash } from "node:crypto";
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { ABANDONED_AFTER_MS, removeDrafts, syncFolder, withDraft } from "../../disk/writeWhole.ts";
import { ArgumentError, KeyrootError, TransportError, VerificationError } from "keyroot/errors";
import { type MerkleFile, serializeMerkleFile } from "keyroot/merkle";

/** A file as a store has it. */
export interface StoredFile {
  /** Its path or address. */
  where: string;
  /** Its size in bytes. */
  bytes: number;
  /** The SHA-256 of its bytes, as they were read back, 64 hex digits in lower case. */
  sha256: string;
}

/** Where Merkle-tree files are put so that a file host serves them. */
export interface MerkleFileStore {
  /**
   * Stores a file under its root's name, whole or not at all, and reads it back. Storing the same bytes again changes
   * nothing.
   * @throws ArgumentError FILE_CONFLICT where other bytes stand under this name; TransportError FILE_UNWRITABLE
   */
  put(file: MerkleFile): Promise<StoredFile>;
  /**
   * The bytes stored under a root.
   * @throws VerificationError FILE_NOT_FOUND where there are none; TransportError FILE_UNREADABLE
   */
  get(root: string): Promise<Uint8Array>;
}

/** About as many bytes are written or read at once. */
const CHUNK_BYTES = 2 ** 16;

const FILE_NAME = /^[0-9a-f]{64}\.json$/;

/** A folder as a store: a file `<root>.json` for each tree. The folder is made when it is missing. */
export class FolderStore implements MerkleFileStore {
  readonly #dir: string;
  #isTidy = false;

  constructor(dir: string) {
    this.#dir = dir;
  }

  async put(file: MerkleFile): Promise<StoredFile> {
    const path = this.#pathOf(file.tree.root);
    try {
      await mkdir(this.#dir, { recursive: true });
      await this.#tidy();
      const written = await withDraft(path, async (draft) => {
        const written = await writeDraft(draft, file);
        const standing = await readBack(path);
        if (standing === undefined) {
          await rename(draft, path);
          await syncFolder(this.#dir);
        } else if (standing.sha256 !== written) {
          const message = `${path} holds other bytes than this tree's: a file under a root's name never changes.`;
          throw new ArgumentError("FILE_CONFLICT", message, { expected: written, actual: standing.sha256 });
        }
        return written;
      });
      const stored = await readBack(path);
      if (stored?.sha256 === written) return stored;
      const message = `${path} does not read as it was written.`;
      throw new TransportError("FILE_UNWRITABLE", message, { expected: written, actual: stored?.sha256 });
    } catch (cause) {
      if (cause instanceof KeyrootError) throw cause;
      const message = `${path} cannot be written: ${(cause as Error).message}.`;
      throw new TransportError("FILE_UNWRITABLE", message, { cause });
    }
  }

  async get(root: string): Promise<Uint8Array> {
    const path = this.#pathOf(root);
    try {
      return await readFile(path);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") {
        const message = `${path} is not there.`;
        throw new VerificationError("file", "FILE_NOT_FOUND", message, { expected: `${root}.json`, cause });
      }
      throw new TransportError("FILE_UNREADABLE", `${path} cannot be read: ${(cause as Error).message}.`, { cause });
    }
  }

  /** Once, before it writes: whoever was killed is run again, and comes by here. */
  async #tidy(): Promise<void> {
    if (this.#isTidy) return;
    await removeDrafts(this.#dir, (name) => FILE_NAME.test(name), Date.now() - ABANDONED_AFTER_MS);
    this.#isTidy = true;
  }

  #pathOf(root: string): string {
    return join(this.#dir, `${root}.json`);
  }
}

/** Writes a file that nobody sees yet, down to the disk. @returns the SHA-256 of its bytes */
async function writeDraft(path: string, file: MerkleFile): Promise<string> {
  const hash = createHash("sha256");
  await using draft = await open(path, "wx");
  for (const chunk of inChunks(serializeMerkleFile(file))) {
    hash.update(chunk);
    await draft.writeFile(chunk);
  }
  await draft.sync();
  return hash.digest("hex");
}

function* inChunks(pieces: Iterable<string>): Generator<Buffer> {
  let chunk = "";
  for (const piece of pieces) {
    chunk += piece;
    if (chunk.length < CHUNK_BYTES) continue;
    yield Buffer.from(chunk);
    chunk = "";
  }
  yield Buffer.from(chunk);
}

/** What is on the disk; undefined where there is no such file. */
async function readBack(path: string): Promise<StoredFile | undefined> {
  const hash = createHash("sha256");
  // A stream would take three times as long.
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let bytes = 0;
  try {
    await using file = await open(path);
    for (;;) {
      const { bytesRead } = await file.read(chunk);
      if (bytesRead === 0) return { where: path, bytes, sha256: hash.digest("hex") };
      hash.update(chunk.subarray(0, bytesRead));
      bytes += bytesRead;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
