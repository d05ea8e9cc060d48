import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { ArgumentError, KeyrootError, TransportError } from "../errors.ts";
import { type MerkleFile, serializeMerkleFile } from "../merkle/file.ts";
import { syncFolder, withDraft } from "../disk/writeWhole.ts";

/** Where Merkle-tree files are put so that a file host serves them. */
export interface MerkleFileStore {
  /**
   * Stores a file under its root's name, whole or not at all, and reads it back. Storing the same bytes again changes
   * nothing.
   * @returns where it is now
   * @throws ArgumentError FILE_CONFLICT where other bytes stand under this name; TransportError FILE_UNWRITABLE
   */
  put(file: MerkleFile): Promise<string>;
  /** The bytes stored under a root. */
  get(root: string): Promise<Uint8Array>;
}

/** Pieces of about this many characters are written at once. */
const CHUNK_LENGTH = 2 ** 16;

/** A folder as a store: a file `<root>.json` for each tree. The folder is made when it is missing. */
export class FolderStore implements MerkleFileStore {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  async put(file: MerkleFile): Promise<string> {
    const path = this.#pathOf(file.tree.root);
    try {
      await mkdir(this.#dir, { recursive: true });
      const written = await withDraft(path, async (draft) => {
        const written = await writeDraft(draft, file);
        const standing = await hashOf(path);
        if (standing === undefined) {
          await rename(draft, path);
          await syncFolder(this.#dir);
        } else if (standing !== written) {
          const message = `${path} holds other bytes than this tree's: a file under a root's name never changes.`;
          throw new ArgumentError("FILE_CONFLICT", message, { expected: written, actual: standing });
        }
        return written;
      });
      const stored = await hashOf(path);
      if (stored === written) return path;
      const message = `${path} does not read as it was written.`;
      throw new TransportError("FILE_UNWRITABLE", message, { expected: written, actual: stored });
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
      throw new TransportError("FILE_UNREADABLE", `${path} cannot be read: ${(cause as Error).message}.`, { cause });
    }
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

function* inChunks(pieces: Iterable<string>): Generator<string> {
  let chunk = "";
  for (const piece of pieces) {
    chunk += piece;
    if (chunk.length < CHUNK_LENGTH) continue;
    yield chunk;
    chunk = "";
  }
  yield chunk;
}

/** SHA-256 of the bytes that are on the disk; undefined where there is no such file. */
async function hashOf(path: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    await pipeline(createReadStream(path), hash);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  return hash.digest("hex");
}
