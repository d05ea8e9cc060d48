import { hash } from "node:crypto";
import { readFile, rename, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { KeyrootError } from "keyroot/internal/errors";
import { type MerkleFile, rootOfFileName } from "keyroot/internal/merkle";
import { cannotWrite, ifExists, readIfExists } from "../../disk/fileErrors.ts";
import { createFolders, syncFolder } from "../../disk/folder.ts";
import { ABANDONED_AFTER_MS, removeDrafts, withDraft, writeToDisk } from "../../disk/writeFileAtomic.ts";
import { ArgumentError, TransportError, VerificationError } from "../../errors.ts";
import { besideFile, type BesideFileOptions, bytesOf, type StoredObject } from "./besideFile.ts";
import type { AccountFileStore, MerkleFileStore, PutOptions, StoredFile } from "./merkleFileStore.ts";

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
   * @param beside what to store beside each file
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
      const bytes = bytesOf(file);
      const sha256 = hash("sha256", bytes);
      const existing = await readBack(path);
      if (existing !== undefined && existing.sha256 !== sha256 && !replace) {
        const message = `${path} already has different content. It was not overwritten. Find out who changed it.`;
        throw new ArgumentError("FILE_CONFLICT", message, { expected: sha256, actual: existing.sha256 });
      }
      if (existing?.sha256 !== sha256) await writeSynced(path, bytes);
      const beside = await besideFile(file, this.#beside);
      if (beside !== undefined) await this.#putBeside(beside);
      const stored = await readBack(path);
      if (stored?.sha256 === sha256) return stored;
      const message = `${path} differs from the bytes that were written. Check the disk.`;
      throw new TransportError("FILE_UNWRITABLE", message, { expected: sha256, actual: stored?.sha256 });
    } catch (cause) {
      throw cause instanceof KeyrootError ? cause : cannotWrite(path, cause);
    }
  }

  async get(root: string): Promise<Uint8Array> {
    const path = this.#pathOf(root);
    const bytes = await readIfExists(path, readFile(path));
    if (bytes !== undefined) return bytes;
    throw new VerificationError("file", "FILE_NOT_FOUND", `${path} does not exist.`, { expected: `${root}.json` });
  }

  async putAccountFile(name: string, text: string): Promise<void> {
    const path = join(this.#dir, name);
    try {
      await createFolders(dirname(path));
      await writeSynced(path, text);
    } catch (cause) {
      throw cannotWrite(path, cause);
    }
  }

  async readAccountFile(name: string): Promise<Uint8Array | undefined> {
    const path = join(this.#dir, name);
    return readIfExists(path, readFile(path));
  }

  async #putBeside({ name, bytes }: StoredObject): Promise<void> {
    const path = join(this.#dir, name);
    if ((await ifExists(stat(path)))?.size !== bytes.length) await replaceFile(path, bytes);
  }

  /**
   * Removes drafts that killed processes have left. It does so only once per store, because a restarted publisher opens
   * a new store.
   */
  async #removeAbandonedDrafts(): Promise<void> {
    if (this.#hasRemovedDrafts) return;
    const isFile = (name: string) => rootOfFileName(name) !== undefined;
    await removeDrafts(this.#dir, isFile, Date.now() - ABANDONED_AFTER_MS);
    this.#hasRemovedDrafts = true;
  }

  #pathOf(root: string): string {
    return join(this.#dir, `${root}.json`);
  }
}

/** Writes or replaces a file, and syncs it to disk, because its root may be sent next. */
async function writeSynced(path: string, content: string | Uint8Array): Promise<void> {
  await withDraft(path, async (draft) => {
    await writeToDisk(draft, content, 0o666);
    await rename(draft, path);
  });
  await syncFolder(dirname(path));
}

/**
 * Writes or replaces a file without syncing it to disk. This is enough for compressed copies and proofs. If a power
 * failure damages one of them, clients read the whole file instead, or the publisher writes it again.
 */
async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  await createFolders(dirname(path));
  await withDraft(path, async (draft) => {
    await writeFile(draft, content);
    await rename(draft, path);
  });
}

/** Reads a file from disk. @returns undefined if it does not exist @throws the system's error */
async function readBack(path: string): Promise<StoredFile | undefined> {
  const bytes = await ifExists(readFile(path));
  return bytes && { where: path, bytes: bytes.length, sha256: hash("sha256", bytes) };
}
