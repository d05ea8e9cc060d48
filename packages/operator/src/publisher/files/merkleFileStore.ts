import type { MerkleFile } from "keyroot/internal/merkle";

/** A file in a store. */
export interface StoredFile {
  /** The path of the file, or its `s3://` address. */
  where: string;
  /** The size of the file in bytes. */
  bytes: number;
  /** The SHA-256 of the bytes that were read back from the store: 64 lowercase hex digits. */
  sha256: string;
}

/** The options of `put`. */
export interface PutOptions {
  /** Overwrites different content, to repair a damaged file. Default: false. */
  replace?: boolean;
}

/** The storage from which a file host serves Merkle-tree files, with one object `<root>.json` per tree. */
export interface MerkleFileStore {
  /**
   * Stores a file atomically under the name of its root, and reads it back. A repeated call has no effect.
   * Implementations MUST NOT overwrite different content under this name unless `replace` is set. They also store the
   * objects that `BesideFileOptions` request.
   * @throws ArgumentError FILE_CONFLICT if different content is stored under this name; TransportError FILE_UNWRITABLE
   */
  put(file: MerkleFile, options?: PutOptions): Promise<StoredFile>;
  /**
   * Reads the file of a root.
   * @param root 64 lowercase hex digits
   * @throws VerificationError FILE_NOT_FOUND if the store has no such file; TransportError FILE_UNREADABLE
   */
  get(root: string): Promise<Uint8Array>;
}

/**
 * The storage from which a file host serves account files (docs/formats.md, "Account file"). Unlike Merkle-tree files,
 * they change.
 */
export interface AccountFileStore {
  /**
   * Stores an account file atomically, and replaces an older one.
   * @param name such as `accounts/<account id in hex>.txt`
   * @throws TransportError FILE_UNWRITABLE
   */
  putAccountFile(name: string, text: string): Promise<void>;
  /**
   * Reads an account file.
   * @returns the bytes, or undefined if the store has no such file
   * @throws TransportError FILE_UNREADABLE
   */
  readAccountFile(name: string): Promise<Uint8Array | undefined>;
}

/**
 * Cache-Control of account files. A verifier that gets a stale file sends one more request. It never takes an older key
 * for the newest one.
 */
export const ACCOUNT_FILE_CACHE = "public, max-age=10";
