import { sha256Hex } from "keyroot/internal/bytes";
import { type MerkleFile, parseMerkleFile } from "keyroot/internal/merkle";
import { TransportError, VerificationError } from "../../errors.ts";
import type { FetchFile } from "../../follow/index.ts";
import type { MerkleFileStore, StoredFile } from "./merkleFileStore.ts";

/**
 * Stores a new file, and checks that the file host serves the same bytes. It then verifies the served bytes as clients
 * do: the whole tree must match the root, and each user must have one record.
 * @param file a file whose keys have already been checked
 * @throws VerificationError FILE_CONFLICT, FILE_NOT_FOUND, and the errors of `parseMerkleFile`; TransportError; and the
 *   errors of `store.put`
 */
export async function storeFile(file: MerkleFile, store: MerkleFileStore, fetchFile: FetchFile): Promise<StoredFile> {
  const stored = await store.put(file);
  const { root } = file.tree;
  // The keys need no second check. They were checked when the records were read, and the root is the hash of all
  // records with their keys.
  parseMerkleFile(await fetchServedBytes(root, stored, fetchFile), root, file.keyType);
  return stored;
}

/** Returns the stored bytes for a root, or undefined if there are none. @throws the errors of `store.get` */
export async function findStored(root: string, store: MerkleFileStore): Promise<Uint8Array | undefined> {
  try {
    return await store.get(root);
  } catch (error) {
    if (error instanceof VerificationError && error.code === "FILE_NOT_FOUND") return undefined;
    throw error;
  }
}

/**
 * Fetches a file as clients do.
 * @throws VerificationError FILE_CONFLICT if the fetched bytes differ from the stored bytes, FILE_NOT_FOUND
 */
export async function fetchServedBytes(
  root: string,
  { bytes, sha256 }: Pick<StoredFile, "bytes" | "sha256">,
  fetchFile: FetchFile,
): Promise<Uint8Array> {
  try {
    const served = await fetchFile(root, bytes);
    if (sha256Hex(served) === sha256) return served;
  } catch (error) {
    if (error instanceof VerificationError && error.code === "FILE_NOT_FOUND") {
      const message = `${error.message} The publisher stored the file, so check that the file host serves the store.`;
      throw new VerificationError("file", "FILE_NOT_FOUND", message, { expected: `${root}.json`, cause: error });
    }
    // A file that is too large differs from the stored file.
    if (!(error instanceof TransportError && error.code === "ANSWER_TOO_LARGE")) throw error;
  }
  const message =
    `The file ${root}.json from the file host differs from the stored file, so its root was not added. Check that the host ` +
    "serves this store, and that it does not change files.";
  throw new VerificationError("file", "FILE_CONFLICT", message, { actual: root });
}
