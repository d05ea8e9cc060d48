import { VerificationError } from "../errors.ts";
import { isUserID, type UserID } from "../identity/userID.ts";
import { describeValue } from "../input/describeValue.ts";

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

export function unknownKey(path: string, actual: string): VerificationError {
  const message = `${path} contains the unknown key ${describeValue(actual)}.`;
  return new VerificationError("file", "FILE_UNKNOWN_KEY", message, { actual });
}
