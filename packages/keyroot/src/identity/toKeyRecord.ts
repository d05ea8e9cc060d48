import { base64ToBytes } from "../bytes/base64.ts";
import { hasOwn } from "../engine/language.ts";
import { ArgumentError } from "../errors.ts";
import { describeValue } from "../input/describeValue.ts";
import { isObject } from "../input/isObject.ts";
import { KEY_ID_BYTES, PUBLIC_KEY_BYTES } from "./publicKey.ts";
import { FIELDS, invalidRecord, type KeyRecord } from "./serializedRecord.ts";
import { parseUserID } from "./userID.ts";

/** Checks the fields of a parsed record, as `parseKeyRecord` does. */
export function toKeyRecord(value: unknown): KeyRecord {
  if (
    !isObject(value) ||
    Object.keys(value).length !== FIELDS.length ||
    !FIELDS.every((field) => hasOwn(value, field))
  ) {
    throw invalidRecord(value);
  }
  const { userID, pubKey, keyID } = value;
  return {
    userID: parseUserID(userID),
    pubKey: parseBase64(pubKey, PUBLIC_KEY_BYTES, "PUBLIC_KEY_LENGTH"),
    keyID: parseBase64(keyID, KEY_ID_BYTES, "KEY_ID_INVALID"),
  };
}

function parseBase64(value: unknown, byteLength: number, code: "PUBLIC_KEY_LENGTH" | "KEY_ID_INVALID"): string {
  const { length } = base64ToBytes(value);
  if (length === byteLength) return value as string;
  const message = `The text ${describeValue(value)} must be ${byteLength} bytes in base64, but is ${length} bytes.`;
  throw new ArgumentError(code, message, { expected: byteLength, actual: length });
}
