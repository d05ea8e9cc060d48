/**
 * Checks a plan that an earlier run recorded, before its roots are added. The checks cover the registry, the files, and
 * every key in the files.
 */
import { isDeepStrictEqual } from "node:util";
import { sha256Hex } from "keyroot/internal/bytes";
import { checkKeyRecord } from "keyroot/internal/identity";
import { makeMerkleFile, type MerkleFile, parseMerkleFile } from "keyroot/internal/merkle";
import { ArgumentError, VerificationError } from "../../errors.ts";
import { plural } from "../../plural.ts";
import type { RootBatch } from "../chain/registry.ts";
import type { FetchFile } from "../../follow/index.ts";
import { bytesOf } from "../files/besideFile.ts";
import type { MerkleFileStore } from "../files/merkleFileStore.ts";
import { fetchServedBytes, findStored, storeFile } from "../files/storeFile.ts";
import type { RecordTable } from "../records/recordTable.ts";
import { differenceOf, type KeyDifference } from "./compareKeys.ts";
import type { Plan, PlanTarget } from "./plan.ts";

/** Checks that a plan is for this registry and chain. @throws ArgumentError PLAN_MISMATCH */
export function checkPlanTarget(plan: Plan, target: PlanTarget): void {
  for (const key of ["chainId", "genesisHash", "contract"] as const) {
    if (plan[key] === target[key]) continue;
    // Earlier versions recorded the first block of every chain.
    if (key === "genesisHash" && (plan[key] === undefined || target[key] === undefined)) continue;
    const message =
      `The unfinished plan is for another registry or chain. Its ${key} is ${plan[key]}, not ${target[key]}. Use another ` +
      "journal, or finish that plan first.";
    throw new ArgumentError("PLAN_MISMATCH", message, { expected: target[key], actual: plan[key] });
  }
}

/**
 * Checks the file of a planned batch: it must be stored and served, and its keys must be valid. Before the root is
 * added, the keys must also be the same as in the records. Users without a record are not compared.
 *
 * If the store has lost the file, it is rebuilt from the records and stored again. A file with different content is
 * never overwritten.
 * @param records sorted by user id
 * @param isAdded true if all users of the batch have roots, so that their keys can no longer be changed
 * @returns the file, its SHA-256, whether it was rebuilt, and the users who have another key in the records
 * @throws VerificationError FILE_NOT_FOUND, FILE_CONFLICT, PLAN_INVALID, and the errors of `parseMerkleFile`;
 *   ArgumentError PLAN_MISMATCH; TransportError; and the errors of the store
 */
export async function checkPlannedFile(
  batch: RootBatch,
  records: RecordTable,
  store: MerkleFileStore,
  fetchFile: FetchFile,
  isAdded = false,
): Promise<{ file: MerkleFile; sha256: string; isRebuilt: boolean; differences: KeyDifference[] }> {
  const stored = await findStored(batch.root, store);
  if (stored === undefined) {
    const file = rebuildFile(batch, records);
    const { sha256 } = await storeFile(file, store, fetchFile);
    return { file, sha256, isRebuilt: true, differences: [] };
  }
  const file = parseMerkleFile(stored, batch.root, records.keyType);
  verifyUsers(batch, file);
  verifyKeys(file);
  const differences = compareWithRecords(file, records);
  const [first] = differences;
  if (first !== undefined && !isAdded) throw planMismatch(first);
  const sha256 = sha256Hex(stored);
  verifyStoredBytes(file, sha256);
  await fetchServedBytes(batch.root, { bytes: stored.length, sha256 }, fetchFile);
  return { file, sha256, isRebuilt: false, differences };
}

/**
 * Rebuilds the file of a batch from the records.
 * @throws VerificationError FILE_NOT_FOUND if the records give a different root
 */
function rebuildFile({ root, userIDs }: RootBatch, records: RecordTable): MerkleFile {
  const found = records.recordsOf(userIDs);
  const missing = userIDs.length - found.length;
  if (missing > 0) throw cannotRebuild(root, `they lack ${missing} of its ${plural(userIDs.length, "user")}`);
  const file = makeMerkleFile(found, records.keyType);
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

/**
 * Checks that the stored bytes are exactly those that publishing wrote.
 * @throws VerificationError FILE_CONFLICT if the same tree is serialized differently
 */
function verifyStoredBytes(file: MerkleFile, sha256: string): void {
  if (sha256Hex(bytesOf(file)) === sha256) return;
  const { root } = file.tree;
  const message =
    `The file ${root}.json in the store has changed since it was stored, although its tree is the same. Its root was not ` +
    "added. Restore the file, or remove it. Publishing then rebuilds it from the records that the plan was made from.";
  throw new VerificationError("file", "FILE_CONFLICT", message, { actual: root });
}

/**
 * Checks the keys of a planned file.
 * @throws VerificationError PLAN_INVALID if a key is not valid for its type, or a key id does not match its key
 */
function verifyKeys({ tree: { root }, records, keyType }: MerkleFile): void {
  for (const record of records) {
    try {
      checkKeyRecord(record, keyType);
    } catch (cause) {
      if (!(cause instanceof ArgumentError)) throw cause;
      const message =
        `The unfinished plan's file ${root}.json contains an invalid key for the user ${record.userID}. ${cause.message} ` +
        "Nothing was sent. Find out who made the file. Then delete the plan's folder and publish again.";
      throw new VerificationError("file", "PLAN_INVALID", message, { actual: record.userID, cause });
    }
  }
}

/** Compares the keys of a planned file with the records. Users without a record are skipped. */
function compareWithRecords({ tree: { root }, records: planned }: MerkleFile, records: RecordTable): KeyDifference[] {
  const given = new Map(
    records.recordsOf(planned.map(({ userID }) => userID)).map((record) => [record.userID, record]),
  );
  return planned.flatMap((record) => {
    const found = given.get(record.userID);
    return found === undefined ? [] : differenceOf(root, record, found, (userID) => records.lineOf(userID));
  });
}

/** The error for a user who has different keys in the plan and in the records, and whose root is not added yet. */
function planMismatch({ userID, root, publishedKeyID, keyID }: KeyDifference): ArgumentError {
  const message =
    `The plan and the records have different keys for the user ${userID}. The key id is ${publishedKeyID} in the plan's file ` +
    `${root}.json, and ${keyID} in the records. Nothing was sent. A published key cannot be changed, so first find ` +
    "the right key. If the plan is right, correct the records. If the records are right, wait until no transaction of the " +
    "registry's owner is pending, or cancel it by sending another transaction with its nonce, because it could still " +
    "publish the plan's key. Then delete the plan's folder and publish again, which skips users who have a root.";
  return new ArgumentError("PLAN_MISMATCH", message, { expected: keyID, actual: publishedKeyID });
}

/** Compares a file's users with the batch's users. @throws VerificationError PLAN_INVALID if the users differ */
function verifyUsers({ root, userIDs }: RootBatch, { records }: MerkleFile): void {
  const users = records.map(({ userID }) => userID);
  if (isDeepStrictEqual(users, userIDs)) return;
  const message = `The users in ${root}.json differ from the plan. Delete the plan's folder and publish again.`;
  throw new VerificationError("file", "PLAN_INVALID", message, { expected: userIDs.length, actual: users.length });
}
