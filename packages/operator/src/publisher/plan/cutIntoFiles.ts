import { ArgumentError } from "keyroot/internal/errors";
import type { KeyRecord } from "keyroot/internal/identity";
import { makeMerkleFile, MAX_VALUES, type MerkleFile } from "keyroot/internal/merkle";
import type { RecordTable } from "../records/recordTable.ts";

/**
 * The default maximum number of users per file. A transaction on Ethereum has at most 2^24 gas (EIP-7825). This gas is
 * enough for about 740 users. A file of 700 users has 0.56 MB.
 */
export const DEFAULT_USERS_PER_FILE = 700;

/**
 * Checks the maximum number of users in a file.
 * @param usersPerFile 1 to 1,000,000
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function checkUsersPerFile(usersPerFile: number): void {
  if (Number.isInteger(usersPerFile) && usersPerFile >= 1 && usersPerFile <= MAX_VALUES) return;
  const message = `The number of users per file must be a whole number from 1 to ${MAX_VALUES}, not ${usersPerFile}.`;
  throw new ArgumentError("ARGUMENT_INVALID", message, { expected: MAX_VALUES, actual: usersPerFile });
}

/**
 * Makes Merkle-tree files from records, in the order of the user ids. Each file except the last has `usersPerFile` users.
 * @param usersPerFile 1 to 1,000,000
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function* cutIntoFiles(records: RecordTable, usersPerFile: number): Generator<MerkleFile> {
  checkUsersPerFile(usersPerFile);
  let chunk: KeyRecord[] = [];
  for (const record of records) {
    if (chunk.push(record) < usersPerFile) continue;
    yield makeMerkleFile(chunk, records.keyType);
    chunk = [];
  }
  if (chunk.length > 0) yield makeMerkleFile(chunk, records.keyType);
}
