import { isDeepStrictEqual } from "node:util";
import { TransportError, VerificationError } from "../errors.ts";
import { type MerkleFile, parseMerkleFile, serializeMerkleFile } from "../merkle/file.ts";
import { DEFAULT_LIMITS } from "../transport/fetchBytes.ts";
import { fetchMerkleFile } from "../transport/fetchMerkleFile.ts";
import { patiently } from "./patiently.ts";
import type { MerkleFileStore } from "./folderStore.ts";
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
 * @returns its size in bytes
 * @throws VerificationError FILE_CONFLICT, FILE_NOT_FOUND, and as `parseMerkleFile`; TransportError
 */
export async function checkFile(
  batch: Pick<Batch, "root" | "userIDs">,
  store: MerkleFileStore,
  fetchFile?: FetchFile,
): Promise<number> {
  const stored = await store.get(batch.root);
  checkUsers(batch, parseMerkleFile(stored, batch.root));
  if (fetchFile !== undefined) await checkServed(batch.root, stored, fetchFile);
  return stored.length;
}

/**
 * Stores a file that was just made, and checks that the store and clients have its very bytes, which need not be taken
 * apart again.
 * @returns its size in bytes
 * @throws VerificationError FILE_CONFLICT, FILE_NOT_FOUND; TransportError; and as the store
 */
export async function placeFile(file: MerkleFile, store: MerkleFileStore, fetchFile?: FetchFile): Promise<number> {
  const { root } = file.tree;
  await store.put(file);
  const stored = await store.get(root);
  if (Buffer.compare(stored, Buffer.from([...serializeMerkleFile(file)].join(""))) !== 0) {
    const message = `The store hands out other bytes as ${root}.json than it was given.`;
    throw new VerificationError("file", "FILE_CONFLICT", message, { actual: root });
  }
  if (fetchFile !== undefined) await checkServed(root, stored, fetchFile);
  return stored.length;
}

async function checkServed(root: string, stored: Uint8Array, fetchFile: FetchFile): Promise<void> {
  try {
    if (Buffer.compare(await fetchFile(root, stored.length), stored) === 0) return;
  } catch (error) {
    // More bytes are other bytes.
    if (!(error instanceof TransportError && error.code === "ANSWER_TOO_LARGE")) throw error;
  }
  const message = `The file host serves other bytes as ${root}.json than were stored: its root is not added.`;
  throw new VerificationError("file", "FILE_CONFLICT", message, { actual: root });
}

/** @throws VerificationError PLAN_INVALID where the file has other users than the plan says */
function checkUsers({ root, userIDs }: Pick<Batch, "root" | "userIDs">, { records }: MerkleFile): void {
  const users = records.map(({ userID }) => userID);
  if (isDeepStrictEqual(users, userIDs)) return;
  const message = `The file ${root}.json has other users than the plan says.`;
  throw new VerificationError("file", "PLAN_INVALID", message, { expected: userIDs.length, actual: users.length });
}
