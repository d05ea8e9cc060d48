import { argumentInvalid } from "../../errors.ts";
import type { KeyRecord, KeyType } from "keyroot/internal/identity";
import { makeMerkleFile, MAX_VALUES, type MerkleFile } from "keyroot/internal/merkle";

/**
 * The default maximum number of users per file. A file of 64 users takes only 15 kB when compressed with Brotli.
 * However, each user costs 3.3 % more gas than in a file of 700 users (docs/costs.md).
 */
export const DEFAULT_USERS_PER_FILE = 64;

/**
 * Checks the maximum number of users in a file.
 * @param usersPerFile 1 to 1,000,000
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function checkUsersPerFile(usersPerFile: number): void {
  if (Number.isInteger(usersPerFile) && usersPerFile >= 1 && usersPerFile <= MAX_VALUES) return;
  const message = `The number of users per file must be a whole number from 1 to ${MAX_VALUES}, not ${usersPerFile}.`;
  throw argumentInvalid(message, { expected: MAX_VALUES, actual: usersPerFile });
}

/**
 * Divides records into Merkle-tree files. Each file except the last has `usersPerFile` users.
 * @param records sorted by user id
 * @param usersPerFile 1 to 1,000,000
 * @param keyType the type of the records' keys. Default: `curve41417`
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function* cutIntoFiles(
  records: Iterable<KeyRecord>,
  usersPerFile: number,
  keyType?: KeyType,
): Generator<MerkleFile> {
  checkUsersPerFile(usersPerFile);
  let chunk: KeyRecord[] = [];
  for (const record of records) {
    if (chunk.push(record) < usersPerFile) continue;
    yield makeMerkleFile(chunk, keyType);
    chunk = [];
  }
  if (chunk.length > 0) yield makeMerkleFile(chunk, keyType);
}
