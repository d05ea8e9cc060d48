import { isDeepStrictEqual } from "node:util";
import { TransportError, VerificationError } from "keyroot/errors";
import { makeMerkleFile, type MerkleFile, parseMerkleFile, serializeMerkleFile } from "keyroot/merkle";
import { sha256Hex } from "keyroot/bytes";
import { DEFAULT_LIMITS } from "keyroot/transport";
import { fetchMerkleFile } from "keyroot/transport";
import { patiently } from "../chain/retry.ts";
import type { MerkleFileStore, StoredFile } from "./folderStore.ts";
import type { Batch } from "../plan/plan.ts";
import type { RecordTable } from "../records/recordTable.ts";

/** Fetches a root's file from where clients look for it. @param maxBytes how large it may be */
export type FetchFile = (root: string, maxBytes: number) => Promise<Uint8Array>;

/** A file host that does not answer at once will not answer clients either. */
const HOST_PATIENCE = { retries: 2, firstPauseMs: 500 };

/** Fetches files as clients do, from their host. */
export function fromHost(merkleUrl: string, patience = HOST_PATIENCE): FetchFile {
  const { timeoutMs } = DEFAULT_LIMITS;
  return (root, maxBytes) => patiently(() => fetchMerkleFile(merkleUrl, root, { maxBytes, timeoutMs }), patience);
}

/** The bytes that a store has under a root; undefined where it has none. @throws as the store */
export async function findFile(root: string, store: MerkleFileStore): Promise<Uint8Array | undefined> {
  try {
    return await store.get(root);
  } catch (error) {
    if (error instanceof VerificationError && error.code === "FILE_NOT_FOUND") return undefined;
    throw error;
  }
}

/**
 * Checks that what is stored for a batch is the file of its root with a record of each of its users, to the byte, and that
 * clients are served the same bytes.
 * @throws VerificationError FILE_CONFLICT, FILE_NOT_FOUND, PLAN_INVALID, and as `parseMerkleFile`; TransportError
 */
export async function checkFile(batch: Batch, stored: Uint8Array, fetchFile: FetchFile): Promise<void> {
  const file = parseMerkleFile(stored, batch.root);
  checkUsers(batch, file);
  const sha256 = sha256Hex(stored);
  checkSpelling(file, sha256);
  await checkServed(batch.root, { bytes: stored.length, sha256 }, fetchFile);
}

/**
 * Makes the file of a batch anew, which its store has lost: of exactly the batch's users.
 * @param records settled
 * @throws VerificationError FILE_NOT_FOUND where these records do not make a tree of its root
 */
export function remakeFile({ root, userIDs }: Pick<Batch, "root" | "userIDs">, records: RecordTable): MerkleFile {
  const found = records.recordsOf(userIDs);
  const lacking = userIDs.length - found.length;
  if (lacking > 0) throw cannotRemake(root, `${lacking} of its ${userIDs.length} users have no record among them`);
  const file = makeMerkleFile(found);
  if (file.tree.root === root) return file;
  throw cannotRemake(root, `they have other keys of its ${userIDs.length} users, with the root ${file.tree.root}`);
}

function cannotRemake(root: string, why: string): VerificationError {
  const message =
    `The store has lost the file ${root}.json of the unfinished plan, and it cannot be made anew from these records: ` +
    `${why}. Give the records that the plan was made of, or put the file back from a copy. Until then, other users are ` +
    "published under a plan of their own: --plan DIR.";
  return new VerificationError("file", "FILE_NOT_FOUND", message, { expected: `${root}.json` });
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

/** @throws VerificationError FILE_CONFLICT where the same tree is spelt in another way: the plan says how large a file is */
function checkSpelling(file: MerkleFile, sha256: string): void {
  if (sha256Hex([...serializeMerkleFile(file)].join("")) === sha256) return;
  const { root } = file.tree;
  const message =
    `The store has other bytes as ${root}.json than were stored, though of the same tree: its root is not added. Put the ` +
    "stored bytes back, or take the file away: it is made anew from the records that the plan was made of.";
  throw new VerificationError("file", "FILE_CONFLICT", message, { actual: root });
}

/** @throws VerificationError PLAN_INVALID where the file has other users than the plan says */
function checkUsers({ root, userIDs }: Batch, { records }: MerkleFile): void {
  const users = records.map(({ userID }) => userID);
  if (isDeepStrictEqual(users, userIDs)) return;
  const message = `The file ${root}.json has other users than the plan says.`;
  throw new VerificationError("file", "PLAN_INVALID", message, { expected: userIDs.length, actual: users.length });
}
