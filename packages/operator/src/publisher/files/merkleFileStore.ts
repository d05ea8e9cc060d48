import type { MerkleFile } from "keyroot/merkle";

/** A file as a store keeps it. */
export interface StoredFile {
  /** Its path, or its `s3://` address. */
  where: string;
  /** Its size in bytes. */
  bytes: number;
  /** The SHA-256 of its bytes as read back: 64 lowercase hex digits. */
  sha256: string;
}

/** Options of `put`. */
export interface PutOptions {
  /** Overwrites different content, to repair a damaged file. Default false. */
  replace?: boolean;
}

/** The place from which a file host serves Merkle-tree files, one object `<root>.json` per tree. */
export interface MerkleFileStore {
  /**
   * Stores a file under its root's name, atomically, and reads it back. Repeating the call has no effect. Implementations
   * MUST NOT overwrite different content under that name without `replace`. They also store what `BesideFileOptions` request.
   * @throws ArgumentError FILE_CONFLICT if different content is stored under this name; TransportError FILE_UNWRITABLE
   */
  put(file: MerkleFile, options?: PutOptions): Promise<StoredFile>;
  /**
   * Reads the bytes stored for a root.
   * @param root 64 lowercase hex digits
   * @throws VerificationError FILE_NOT_FOUND if there are none; TransportError FILE_UNREADABLE
   */
  get(root: string): Promise<Uint8Array>;
}
