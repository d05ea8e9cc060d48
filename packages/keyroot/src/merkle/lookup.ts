import { ArgumentError, VerificationError } from "../errors.ts";
import type { KeyRecord } from "../identity/keyRecord.ts";
import { isUserID, type UserID } from "../identity/userID.ts";
import { describeValue } from "../input/describeValue.ts";

/** Returns the index of each user's record. @throws ArgumentError DUPLICATE_VALUE, DUPLICATE_USER */
export function indexByUser(records: readonly KeyRecord[], values: readonly string[]): Map<UserID, number> {
  const index = new Map<UserID, number>();
  for (const { userID } of records) {
    const first = index.get(userID);
    // `index.size` is six times as fast as `entries` before engines optimize the loop.
    const i = index.size;
    if (first !== undefined) {
      // If the last value is paired with itself, repeating it does not change the root (CVE-2012-2459).
      const code = values[first] === values[i] ? "DUPLICATE_VALUE" : "DUPLICATE_USER";
      const message = `The user ${userID} has two records, at the indexes ${first} and ${i}.`;
      throw new ArgumentError(code, message, { expected: first, actual: i });
    }
    index.set(userID, i);
  }
  return index;
}

/**
 * Checks that `lookup` in a file contains exactly the indexes of the file's records. The root does not cover `lookup`.
 * @param index the correct indexes, from `indexByUser`
 * @throws VerificationError LOOKUP_MISMATCH, FILE_UNKNOWN_KEY, step "file"
 */
export function verifyLookup(lookup: Record<string, unknown>, index: ReadonlyMap<UserID, number>): void {
  for (const userID of new Set([...index.keys(), ...Object.keys(lookup)])) {
    const [expected, actual] = [index.get(userID), lookup[userID]];
    if (actual === expected) continue;
    if (expected === undefined && !isUserID(userID)) throw unknownKey("lookup", userID);
    const record = expected === undefined ? "values has no record of them" : `the record is values[${expected}]`;
    const message = `lookup contains ${describeValue(actual)} for the user ${userID}, but ${record}.`;
    throw new VerificationError("file", "LOOKUP_MISMATCH", message, { expected, actual });
  }
}

/** Makes the error for an unknown key in a file. */
export function unknownKey(path: string, actual: string): VerificationError {
  const message = `${path} contains the unknown key ${describeValue(actual)}.`;
  return new VerificationError("file", "FILE_UNKNOWN_KEY", message, { actual });
}
