import { ArgumentError } from "../errors.ts";
import { describeValue, isObject } from "../input/values.ts";
import type { KeyRecord } from "./serializedRecord.ts";

export const FIELDS = ["userID", "pubKey", "keyID"] as const;

/**
 * Returns the exact text of a record, as Merkle-tree files contain it and as the tree hashes it: JSON without spaces,
 * with the three fields in the order of `KeyRecord`.
 * @throws ArgumentError RECORD_INVALID
 * @example
 * const leaf = createHash("sha256").update(serializeKeyRecord(record)).digest("hex");
 */
export function serializeKeyRecord(record: KeyRecord): string {
  if (!isObject(record) || !FIELDS.every((field) => typeof record[field] === "string")) throw invalidRecord(record);
  const { userID, pubKey, keyID } = record;
  return JSON.stringify({ userID, pubKey, keyID });
}

/** The error for a value that is not a record. */
export function invalidRecord(actual: unknown): ArgumentError {
  const found = isObject(actual)
    ? `has ${describeValue(Object.keys(actual).join(", "))}`
    : `is ${describeValue(actual)}`;
  const message = `A key record must be an object with exactly the strings ${FIELDS.join(", ")}, but ${found}.`;
  return new ArgumentError("RECORD_INVALID", message, { expected: FIELDS, actual });
}
