import { hasOwn } from "../engine/language.ts";
import { describeValue } from "../input/describeValue.ts";
import { ArgumentError } from "../errors.ts";
import { checkUntrusted } from "../input/document.ts";
import { isObject, parseJson } from "../input/json.ts";
import { checkObject } from "../input/options.ts";
import { base64ToBytes, bytesToBase64 } from "../bytes/base64.ts";
import { compareKey, type ExpectedBytes } from "./expectedKey.ts";
import { checkPublicKey, KEY_ID_BYTES, keyIDOf, PUBLIC_KEY_BYTES } from "./publicKey.ts";
import { parseUserID, type UserID } from "./userID.ts";

/** The published record of a user's public key (docs/specification.md, "Public key record"). */
export interface KeyRecord {
  userID: UserID;
  /** The 105 bytes of the public key in base64. */
  pubKey: string;
  /** The first 16 bytes of the public key's SHA-256, in base64. */
  keyID: string;
}

const FIELDS = ["userID", "pubKey", "keyID"] as const;

/** The length in characters of a record that `serializeKeyRecord` wrote. */
const SERIALIZED_LENGTH = 232;
/**
 * Matches a record that `serializeKeyRecord` wrote. The caller also checks its length and that it has no underscore.
 * These checks are faster than exact digit counts. The match takes less than half the time of a JSON parser. \w takes a
 * quarter of the time of [A-Za-z0-9].
 */
const SERIALIZED =
  /^{"userID":"([ybndrfg8ejkmcpqxot1uwisza345h769]{32})","pubKey":"(\w*(?:[+/]\w*)*)","keyID":"([A-Za-z0-9+/]{21}[AQgw]==)"}$/;

/**
 * Makes the record of a user's public key.
 * @param publicKey 105 bytes
 * @throws ArgumentError USER_ID_INVALID, and the errors of `checkPublicKey`
 * @example
 * const record = makeKeyRecord(randomUserID(), generateKeyPair().publicKey);
 */
export function makeKeyRecord(userID: UserID, publicKey: Uint8Array): KeyRecord {
  checkPublicKey(publicKey);
  return { userID: parseUserID(userID), pubKey: bytesToBase64(publicKey), keyID: bytesToBase64(keyIDOf(publicKey)) };
}

/**
 * Returns the exact text of a record that is published and hashed. It is JSON with the three fields in this order and
 * without spaces.
 * @throws ArgumentError RECORD_INVALID
 * @example
 * const leaf = createHash("sha256").update(serializeKeyRecord(record)).digest("hex");
 */
export function serializeKeyRecord(record: KeyRecord): string {
  if (!isObject(record) || !FIELDS.every((field) => typeof record[field] === "string")) throw invalidRecord(record);
  const { userID, pubKey, keyID } = record;
  return JSON.stringify({ userID, pubKey, keyID });
}

/**
 * Parses the text of a record, and checks the form of its three fields. The fields may have any order and spacing.
 * `checkKeyRecord` checks the key itself.
 * @throws ArgumentError RECORD_INVALID, JSON_INVALID, JSON_TOO_DEEP, JSON_DUPLICATE_KEY, JSON_FORBIDDEN_TOKEN,
 * USER_ID_INVALID, BASE64_INVALID, PUBLIC_KEY_LENGTH, KEY_ID_INVALID
 * @example
 * const { userID, pubKey } = parseKeyRecord(line);
 */
export function parseKeyRecord(text: string): KeyRecord {
  // The type must be checked first, because `exec` would convert other values to text.
  const isCandidate = typeof text === "string" && text.length === SERIALIZED_LENGTH && !text.includes("_");
  const match = isCandidate && (SERIALIZED.exec(text) as [string, string, string, string] | null);
  // Indexes are twice as fast as destructuring before engines optimize this function. A file has many records.
  if (match) return { userID: match[1], pubKey: match[2], keyID: match[3] };
  return toKeyRecord(parseJson(text, 1));
}

/** Checks the fields of a record that is already parsed from JSON, as `parseKeyRecord` does. */
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

/**
 * Checks the key in a record. The key must be a point of the curve, must not have a small order, and must match
 * `keyID`.
 * @returns the 105 bytes of the public key
 * @throws ArgumentError as `checkPublicKey`; KEY_ID_MISMATCH, BASE64_INVALID, ARGUMENT_INVALID
 * @example
 * const publicKey = checkKeyRecord(parseKeyRecord(line));
 */
export function checkKeyRecord(record: KeyRecord): Uint8Array {
  const { pubKey, keyID } = checkObject("The record", record);
  const publicKey = base64ToBytes(pubKey);
  checkPublicKey(publicKey);
  const expected = bytesToBase64(keyIDOf(publicKey));
  if (keyID !== expected) {
    const message = `The id of the record's key is ${expected}, but the record contains ${describeValue(keyID)}.`;
    throw new ArgumentError("KEY_ID_MISMATCH", message, { expected, actual: keyID });
  }
  return publicKey;
}

function invalidRecord(actual: unknown): ArgumentError {
  const found = isObject(actual)
    ? `has ${describeValue(Object.keys(actual).join(", "))}`
    : `is ${describeValue(actual)}`;
  const message = `A key record must be an object with exactly the strings ${FIELDS.join(", ")}, but ${found}.`;
  return new ArgumentError("RECORD_INVALID", message, { expected: FIELDS, actual });
}

function parseBase64(value: unknown, byteLength: number, code: "PUBLIC_KEY_LENGTH" | "KEY_ID_INVALID"): string {
  const { length } = base64ToBytes(value);
  if (length === byteLength) return value as string;
  const message = `Expected ${byteLength} bytes in base64, but ${describeValue(value)} contains ${length}.`;
  throw new ArgumentError(code, message, { expected: byteLength, actual: length });
}

/**
 * Verifies the key in a published record, and compares it with the key that a server returned for the user.
 * @param path the path of the record in its document, for error messages
 * @param expectedPublicKey the key that a server returned for the user, or `ANY_KEY` for no comparison
 * @returns the 105 bytes of the public key
 * @throws VerificationError as `checkKeyRecord`, step "record"; KEY_MISMATCH, step "key"
 */
export function verifyKeyRecord(path: string, record: KeyRecord, expectedPublicKey: ExpectedBytes): Uint8Array {
  const publicKey = checkUntrusted("record", path, () => checkKeyRecord(record));
  compareKey(record, expectedPublicKey);
  return publicKey;
}
