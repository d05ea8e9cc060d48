import { ArgumentError } from "keyroot/errors";
import type { KeyRecord } from "keyroot/identity";
import { makeMerkleFile, type MerkleFile } from "keyroot/merkle";
import { MAX_VALUES } from "keyroot/merkle";
import type { RecordTable } from "../records/recordTable.ts";

/**
 * How many users a file has at the most unless another number is asked for. One transaction of at most 2^24 gas
 * (EIP-7825) publishes some 740 users; 700 leave room, and their file has 0.56 MB.
 */
export const DEFAULT_USERS_PER_FILE = 700;

/** @param usersPerFile 1 to 1,000,000 @throws ArgumentError ARGUMENT_INVALID */
export function checkUsersPerFile(usersPerFile: number): void {
  if (Number.isInteger(usersPerFile) && usersPerFile >= 1 && usersPerFile <= MAX_VALUES) return;
  const message = `A file has 1 to ${MAX_VALUES} users, not ${usersPerFile}.`;
  throw new ArgumentError("ARGUMENT_INVALID", message, { expected: MAX_VALUES, actual: usersPerFile });
}

/**
 * Cuts users' records into files: in the order of their users, as many to a file as asked for, the rest in the last.
 * @param usersPerFile 1 to 1,000,000
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function* cutIntoFiles(records: RecordTable, usersPerFile: number): Generator<MerkleFile> {
  checkUsersPerFile(usersPerFile);
  let some: KeyRecord[] = [];
  for (const record of records) {
    if (some.push(record) < usersPerFile) continue;
    yield makeMerkleFile(some);
    some = [];
  }
  if (some.length > 0) yield makeMerkleFile(some);
}
