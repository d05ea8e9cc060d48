import { base64ToBytes, bytesToBase64 } from "../bytes/base64.ts";
import { hasOwn } from "../engine/language.ts";
import { ArgumentError } from "../errors.ts";
import { parseJson } from "../input/parseJson.ts";
import { describeValue, isObject } from "../input/values.ts";
import { curve41417 } from "./keyTypes/curve41417.ts";
import { checkKeyType, checkLength, type KeyType } from "./keyTypes/keyType.ts";
import { checkPublicKey, KEY_ID_BYTES, keyIDOf } from "./publicKey.ts";
import { type KeyRecord, parseSerializedRecord } from "./serializedRecord.ts";
import { FIELDS, invalidRecord } from "./serializeKeyRecord.ts";
import { parseUserID, type UserID } from "./userID.ts";

/**
 * Makes the record of a user's public key.
 * @param publicKey the bytes of the public key, 105 for Curve41417
 * @param keyType the type of the registry's keys. Default: `curve41417`
 * @throws ArgumentError USER_ID_INVALID, or an error of `checkPublicKey`
 * @example
 * const record = makeKeyRecord(randomUserID(), generateKeyPair().publicKey);
 */
export function makeKeyRecord(userID: UserID, publicKey: Uint8Array, keyType: KeyType = curve41417): KeyRecord {
  checkPublicKey(publicKey, keyType);
  const keyID = bytesToBase64(keyIDOf(publicKey, keyType));
  return { userID: parseUserID(userID), pubKey: bytesToBase64(publicKey), keyID };
}

/**
 * Parses the text of a record and checks the form of its three fields. They may have any order and spacing. To check
 * the public key itself, call `checkKeyRecord`.
 * @param keyType the type of the registry's keys. Default: `curve41417`
 * @throws ArgumentError RECORD_INVALID, JSON_INVALID, JSON_TOO_DEEP, JSON_DUPLICATE_KEY, JSON_FORBIDDEN_TOKEN,
 * USER_ID_INVALID, BASE64_INVALID, PUBLIC_KEY_LENGTH, KEY_TYPE_MISMATCH, KEY_ID_INVALID, ARGUMENT_INVALID
 * @example
 * const { userID, pubKey } = parseKeyRecord(line);
 */
export function parseKeyRecord(text: string, keyType: KeyType = curve41417): KeyRecord {
  return parseSerializedRecord(text, checkKeyType(keyType)) ?? toKeyRecord(parseJson(text, 1), keyType);
}

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
