import { createHash } from "node:crypto";
import { open, readFile, rename, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { KeyrootError } from "keyroot/internal/errors";
import { isMerkleRoot, type MerkleFile, serializeMerkleFile } from "keyroot/internal/merkle";
import { ArgumentError, TransportError, VerificationError } from "../../errors.ts";
import { createFolders, syncFolder } from "../../disk/folder.ts";
import { ifExists } from "../../disk/ifExists.ts";
import { ABANDONED_AFTER_MS, removeDrafts, withDraft } from "../../disk/writeFileAtomic.ts";
import { besideFile, type BesideFile, type BesideFileOptions } from "./besideFile.ts";
import type { AccountFileStore, MerkleFileStore, PutOptions, StoredFile } from "./merkleFileStore.ts";

/** The size of one read or write, in bytes. A file of 700 users needs three reads. */
const CHUNK_BYTES = 2 ** 18;

/**
 * Stores Merkle-tree files in a folder that a file host serves. The folder is created if it is missing, and several
 * processes may use it at the same time.
 * @example
 * ```ts
 * const store = new FolderStore("/var/www/merkle");
 * ```
 */
export class FolderStore implements MerkleFileStore, AccountFileStore {
  readonly #dir: string;
  readonly #beside: BesideFileOptions;
  #hasRemovedDrafts = false;

  /**
   * Creates a store.
   * @param dir the path of the folder
   * @param beside the objects to store beside each file
   */
  constructor(dir: string, beside: BesideFileOptions = {}) {
    this.#dir = dir;
    this.#beside = beside;
  }

  async put(file: MerkleFile, { replace = false }: PutOptions = {}): Promise<StoredFile> {
    const path = this.#pathOf(file.tree.root);
    try {
      await createFolders(this.#dir);
      await this.#removeAbandonedDrafts();
      const written = await withDraft(path, async (draft) => {
        const written = await writeDraft(draft, file);
        const existing = await ifExists(readBack(path));
        if (existing?.sha256 === written) return written;
        if (existing !== undefined && !replace) {
          const message = `${path} already has different content. It was not overwritten. Find out who changed it.`;
          throw new ArgumentError("FILE_CONFLICT", message, { expected: written, actual: existing.sha256 });
        }
        await rename(draft, path);
        await syncFolder(this.#dir);
        return written;
      });
      for (const object of await besideFile(file, this.#beside)) await this.#putBeside(object);
      const stored = await ifExists(readBack(path));
      if (stored?.sha256 === written) return stored;
      const message = `${path} differs from the bytes that were written. Check the disk.`;
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
        const message = `${path} does not exist.`;
        throw new VerificationError("file", "FILE_NOT_FOUND", message, { expected: `${root}.json`, cause });
      }
      throw new TransportError("FILE_UNREADABLE", `${path} cannot be read: ${(cause as Error).message}.`, { cause });
    }
  }

  async putAccountFile(name: string, text: string): Promise<void> {
    const path = join(this.#dir, name);
    try {
      await createFolders(dirname(path));
      await withDraft(path, async (draft) => {
        await writeFile(draft, text);
        await rename(draft, path);
      });
    } catch (cause) {
      throw new TransportError("FILE_UNWRITABLE", `${path} cannot be written: ${(cause as Error).message}.`, { cause });
    }
  }

  async readAccountFile(name: string): Promise<Uint8Array | undefined> {
    const path = join(this.#dir, name);
    try {
      return await ifExists(readFile(path));
    } catch (cause) {
      throw new TransportError("FILE_UNREADABLE", `${path} cannot be read: ${(cause as Error).message}.`, { cause });
    }
  }

  /**
   * Writes an object without syncing it to disk. If a power failure damages it, clients read the whole file instead.
   */
  async #putBeside({ name, bytes }: BesideFile): Promise<void> {
    const path = join(this.#dir, name);
    if ((await ifExists(stat(path)))?.size === bytes.length) return;
    await createFolders(dirname(path));
    await withDraft(path, async (draft) => {
      await writeFile(draft, bytes);
      await rename(draft, path);
    });
  }

  /**
   * Removes drafts that killed processes have left. Once per store is enough, because a restarted publisher opens a new
   * store.
   */
  async #removeAbandonedDrafts(): Promise<void> {
    if (this.#hasRemovedDrafts) return;
    await removeDrafts(this.#dir, isFileName, Date.now() - ABANDONED_AFTER_MS);
    this.#hasRemovedDrafts = true;
  }

  #pathOf(root: string): string {
    return join(this.#dir, `${root}.json`);
  }
}

function isFileName(name: string): boolean {
  return name.endsWith(".json") && isMerkleRoot(name.slice(0, -".json".length));
}

/**
 * Writes a draft, which file hosts do not serve, and syncs it to disk.
 * @returns the SHA-256 of the draft
 */
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
    yield toBytes(chunk);
    chunk = "";
  }
  yield toBytes(chunk);
}

/** Encodes a file as Latin-1. Files are ASCII, and this encoding takes half the time of UTF-8. */
function toBytes(text: string): Buffer {
  return Buffer.from(text, "latin1");
}

/**
 * Reads a file from disk, and returns its content, size and SHA-256.
 * @throws the system's error
 */
async function readBack(path: string): Promise<StoredFile> {
  const hash = createHash("sha256");
  let bytes = 0;
  await using file = await open(path);
  // Read chunks directly, because a stream takes three times as long.
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (;;) {
    const { bytesRead } = await file.read(chunk);
    if (bytesRead === 0) return { where: path, bytes, sha256: hash.digest("hex") };
    hash.update(chunk.subarray(0, bytesRead));
    bytes += bytesRead;
  }
}
