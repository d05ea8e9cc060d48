import { base64ToBytes } from "../bytes/base64.ts";
import { hasOwn } from "../engine/language.ts";
import { ArgumentError } from "../errors.ts";
import { describeValue } from "../input/describeValue.ts";
import { isObject } from "../input/isObject.ts";
import { curve41417 } from "./keyTypes/curve41417.ts";
import { checkLength, type KeyType } from "./keyTypes/keyType.ts";
import { KEY_ID_BYTES } from "./publicKey.ts";
import type { KeyRecord } from "./serializedRecord.ts";
import { FIELDS, invalidRecord } from "./serializeKeyRecord.ts";
import { parseUserID } from "./userID.ts";

/** Checks the fields of a parsed record, as `parseKeyRecord` does. */
export function toKeyRecord(value: unknown, keyType: KeyType = curve41417): KeyRecord {
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
    pubKey: parsePublicKey(pubKey, keyType),
    keyID: parseKeyID(keyID),
  };
}

function parsePublicKey(value: unknown, keyType: KeyType): string {
  checkLength(base64ToBytes(value), keyType);
  return value as string;
}

function parseKeyID(value: unknown): string {
  const { length } = base64ToBytes(value);
  if (length === KEY_ID_BYTES) return value as string;
  const message = `The key id ${describeValue(value)} must be ${KEY_ID_BYTES} bytes in base64, but is ${length} bytes.`;
  throw new ArgumentError("KEY_ID_INVALID", message, { expected: KEY_ID_BYTES, actual: length });
}
