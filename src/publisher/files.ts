import { isDeepStrictEqual } from "node:util";
import { TransportError, VerificationError } from "../errors.ts";
import { type MerkleFile, parseMerkleFile } from "../merkle/file.ts";
import { sha256Hex } from "../platform.ts";
import { DEFAULT_LIMITS } from "../transport/fetchBytes.ts";
import { fetchMerkleFile } from "../transport/fetchMerkleFile.ts";
import { patiently } from "./patiently.ts";
import type { MerkleFileStore, StoredFile } from "./folderStore.ts";
import type { Batch } from "./plan.ts";

/** Fetches a root's file from where clients look for it. @param maxBytes how large it may be */
export type FetchFile = (root: string, maxBytes: number) => Promise<Uint8Array>;

/** A file host that does not answer at once will not answer clients either. */
const HOST_PATIENCE = { retries: 2, firstPauseMs: 500 };

/** Fetches files as clients do, from their host. */
export function fromHost(merkleUrl: string, patience = HOST_PATIENCE): FetchFile {
  const { timeoutMs } = DEFAULT_LIMITS;
  return (root, maxBytes) => patiently(() => fetchMerkleFile(merkleUrl, root, { maxBytes, timeoutMs }), patience);
}

/**
 * Checks that a batch's file is in the store and where clients look for it, and that it is a tree of this root with a
 * record of each of the batch's users.
 * @throws VerificationError FILE_CONFLICT, FILE_NOT_FOUND, and as `parseMerkleFile`; TransportError
 */
export async function checkFile(
  batch: Pick<Batch, "root" | "userIDs">,
  store: MerkleFileStore,
  fetchFile: FetchFile,
): Promise<void> {
  const stored = await store.get(batch.root);
  checkUsers(batch, parseMerkleFile(stored, batch.root));
  await checkServed(batch.root, { bytes: stored.length, sha256: sha256Hex(stored) }, fetchFile);
}

/**
 * Stores a file that was just made, and checks that clients are served its very bytes, which need not be taken apart
 * again.
 * @returns its size in bytes
 * @throws VerificationError FILE_CONFLICT, FILE_NOT_FOUND; TransportError; and as the store
 */
export async function placeFile(file: MerkleFile, store: MerkleFileStore, fetchFile: FetchFile): Promise<number> {
  const stored = await store.put(file);
  await checkServed(file.tree.root, stored, fetchFile);
  return stored.bytes;
}

async function checkServed(
  root: string,
  { bytes, sha256 }: Pick<StoredFile, "bytes" | "sha256">,
  fetchFile: FetchFile,
): Promise<void> {
  try {
    if (sha256Hex(await fetchFile(root, bytes)) === sha256) return;
  } catch (error) {
    // More bytes are other bytes.
    if (!(error instanceof TransportError && error.code === "ANSWER_TOO_LARGE")) throw error;
  }
  const message = `Clients are served other bytes as ${root}.json than were stored: its root is not added.`;
  throw new VerificationError("file", "FILE_CONFLICT", message, { actual: root });
}

/** @throws VerificationError PLAN_INVALID where the file has other users than the plan says */
function checkUsers({ root, userIDs }: Pick<Batch, "root" | "userIDs">, { records }: MerkleFile): void {
  const users = records.map(({ userID }) => userID);
  if (isDeepStrictEqual(users, userIDs)) return;
  const message = `The file ${root}.json has other users than the plan says.`;
  throw new VerificationError("file", "PLAN_INVALID", message, { expected: userIDs.length, actual: users.length });
}
