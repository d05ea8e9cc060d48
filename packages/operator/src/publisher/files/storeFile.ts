import { isDeepStrictEqual } from "node:util";
import { sha256Hex } from "keyroot/bytes";
import { ArgumentError, TransportError, VerificationError } from "keyroot/errors";
import { checkKeyRecord } from "keyroot/identity";
import { makeMerkleFile, type MerkleFile, parseMerkleFile, serializeMerkleFile } from "keyroot/merkle";
import { plural } from "../../text/plural.ts";
import type { RootBatch } from "../chain/registry.ts";
import type { RecordTable } from "../records/recordTable.ts";
import type { FetchFile } from "./fetchFile.ts";
import type { MerkleFileStore, StoredFile } from "./merkleFileStore.ts";

/**
 * Stores a new file, checks that clients are served the stored bytes, and verifies these bytes as clients do: the whole tree,
 * and one record per user.
 * @param file made of records whose keys were checked
 * @throws VerificationError FILE_CONFLICT, FILE_NOT_FOUND, and as `parseMerkleFile`; TransportError; and as `store.put`
 */
export async function storeFile(file: MerkleFile, store: MerkleFileStore, fetchFile: FetchFile): Promise<StoredFile> {
  const stored = await store.put(file);
  const { root } = file.tree;
  const served = parseMerkleFile(await fetchServedBytes(root, stored, fetchFile), root);
  // Keys were checked when the records were read. The record of another key is checked again.
  verifyKeys(served, file);
  return stored;
}

/**
 * Checks that a planned batch's file is stored and served, that every key in it is valid, and that it has the same key as the
 * records for every user in both. If the store lost it, rebuilds it from the records and stores it again. Other bytes under
 * its name are an error; they are not overwritten.
 * @param records sorted by user id
 * @returns the file, the SHA-256 of its bytes, and whether it was rebuilt
 * @throws VerificationError FILE_NOT_FOUND, FILE_CONFLICT, PLAN_INVALID, and as `parseMerkleFile`; ArgumentError
 * PLAN_MISMATCH; TransportError; and as the store
 */
export async function ensureFile(
  batch: RootBatch,
  records: RecordTable,
  store: MerkleFileStore,
  fetchFile: FetchFile,
): Promise<{ file: MerkleFile; sha256: string; isRebuilt: boolean }> {
  const stored = await findStored(batch.root, store);
  if (stored === undefined) {
    const file = rebuildFile(batch, records);
    const { sha256 } = await storeFile(file, store, fetchFile);
    return { file, sha256, isRebuilt: true };
  }
  const file = parseMerkleFile(stored, batch.root);
  verifyUsers(batch, file);
  verifyKeys(file);
  compareKeys(file, records);
  const sha256 = sha256Hex(stored);
  verifyStoredBytes(file, sha256);
  await fetchServedBytes(batch.root, { bytes: stored.length, sha256 }, fetchFile);
  return { file, sha256, isRebuilt: false };
}

/** The bytes that a store has for a root; undefined if it has none. @throws as `store.get` */
export async function findStored(root: string, store: MerkleFileStore): Promise<Uint8Array | undefined> {
  try {
    return await store.get(root);
  } catch (error) {
    if (error instanceof VerificationError && error.code === "FILE_NOT_FOUND") return undefined;
    throw error;
  }
}

/** @throws VerificationError FILE_NOT_FOUND if the records do not make the batch's tree */
function rebuildFile({ root, userIDs }: RootBatch, records: RecordTable): MerkleFile {
  const found = records.recordsOf(userIDs);
  const missing = userIDs.length - found.length;
  if (missing > 0) throw cannotRebuild(root, `they lack ${missing} of its ${plural(userIDs.length, "user")}`);
  const file = makeMerkleFile(found);
  if (file.tree.root === root) return file;
  throw cannotRebuild(
    root,
    `they have other keys for its ${plural(userIDs.length, "user")}, with the root ${file.tree.root}`,
  );
}

function cannotRebuild(root: string, reason: string): VerificationError {
  const message =
    `The store has lost the file ${root}.json of the unfinished plan, and these records cannot rebuild it: ${reason}. ` +
    "Pass the records that the plan was made from, or restore the file from a backup. To publish other users first, use " +
    "another plan: --plan DIR.";
  return new VerificationError("file", "FILE_NOT_FOUND", message, { expected: `${root}.json` });
}

/** Fetches a file's bytes as clients do. @throws VerificationError FILE_CONFLICT if they are not the stored ones */
async function fetchServedBytes(
  root: string,
  { bytes, sha256 }: Pick<StoredFile, "bytes" | "sha256">,
  fetchFile: FetchFile,
): Promise<Uint8Array> {
  try {
    const served = await fetchFile(root, bytes);
    if (sha256Hex(served) === sha256) return served;
  } catch (error) {
    // A larger file has other bytes.
    if (!(error instanceof TransportError && error.code === "ANSWER_TOO_LARGE")) throw error;
  }
  const message =
    `The file host serves other bytes as ${root}.json than were stored, so its root was not added. Check that the host ` +
    "serves this store, and that it does not change files.";
  throw new VerificationError("file", "FILE_CONFLICT", message, { actual: root });
}

/** @throws VerificationError FILE_CONFLICT if the tree is serialized in another way: the plan states the file's size */
function verifyStoredBytes(file: MerkleFile, sha256: string): void {
  if (sha256Hex([...serializeMerkleFile(file)].join("")) === sha256) return;
  const { root } = file.tree;
  const message =
    `The store has other bytes as ${root}.json than were stored, though they have the same tree, so its root was not ` +
    "added. Restore the file, or remove it: publishing rebuilds it from the records that the plan was made from.";
  throw new VerificationError("file", "FILE_CONFLICT", message, { actual: root });
}

/**
 * @param checked a file whose keys were checked: the same records are not checked again
 * @throws VerificationError PLAN_INVALID if a key is not a point of the curve, or a key id is not that of its key
 */
function verifyKeys({ tree: { root }, records }: MerkleFile, checked?: MerkleFile): void {
  for (const [i, record] of records.entries()) {
    const same = checked?.records[i];
    if (record.pubKey === same?.pubKey && record.keyID === same.keyID) continue;
    try {
      checkKeyRecord(record);
    } catch (cause) {
      if (!(cause instanceof ArgumentError)) throw cause;
      const message =
        `The file ${root}.json of the unfinished plan has an invalid key of the user ${record.userID}: ${cause.message} ` +
        "Nothing was sent. Find out who made the file; then delete the plan's folder and publish again.";
      throw new VerificationError("file", "PLAN_INVALID", message, { actual: record.userID, cause });
    }
  }
}

/** @throws ArgumentError PLAN_MISMATCH if the plan has another key than the records for one of its users */
function compareKeys({ tree: { root }, records: planned }: MerkleFile, records: RecordTable): void {
  const given = new Map(
    records.recordsOf(planned.map(({ userID }) => userID)).map((record) => [record.userID, record]),
  );
  for (const { userID, pubKey, keyID } of planned) {
    const record = given.get(userID);
    if (record === undefined || record.pubKey === pubKey) continue;
    const message =
      `The unfinished plan has another key for the user ${userID} than the records: the plan's file ${root}.json has the key ` +
      `id ${keyID}, the records have ${record.keyID}. Nothing was sent. A published key cannot be changed, so find out which ` +
      "one is right. If it is the plan's, correct the records. If it is the records', and no transaction of the plan was " +
      "sent, delete the plan's folder and publish again.";
    throw new ArgumentError("PLAN_MISMATCH", message, { expected: record.keyID, actual: keyID });
  }
}

/** @throws VerificationError PLAN_INVALID if the file has other users than the plan */
function verifyUsers({ root, userIDs }: RootBatch, { records }: MerkleFile): void {
  const users = records.map(({ userID }) => userID);
  if (isDeepStrictEqual(users, userIDs)) return;
  const message = `The file ${root}.json has other users than the plan says. Delete the plan's folder and publish again.`;
  throw new VerificationError("file", "PLAN_INVALID", message, { expected: userIDs.length, actual: users.length });
}
