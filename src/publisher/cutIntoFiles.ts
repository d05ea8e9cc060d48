import { ArgumentError } from "../errors.ts";
import type { KeyRecord } from "../identity/keyRecord.ts";
import { makeMerkleFile, type MerkleFile } from "../merkle/file.ts";
import { MAX_VALUES } from "../merkle/tree.ts";

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
 * Cuts users' records into files: sorted by `userID`, as many to a file as asked for, the rest in the last.
 * @param usersPerFile 1 to 1,000,000
 * @throws ArgumentError ARGUMENT_INVALID, DUPLICATE_USER
 */
export function* cutIntoFiles(records: readonly KeyRecord[], usersPerFile: number): Generator<MerkleFile> {
  checkUsersPerFile(usersPerFile);
  const sorted = records.toSorted((a, b) => (a.userID < b.userID ? -1 : 1));
  const twice = sorted.find(({ userID }, i) => userID === sorted[i - 1]?.userID);
  if (twice !== undefined) {
    throw new ArgumentError("DUPLICATE_USER", `The user ${twice.userID} has two records.`, { actual: twice.userID });
  }
  for (let i = 0; i < sorted.length; i += usersPerFile) yield makeMerkleFile(sorted.slice(i, i + usersPerFile));
}
