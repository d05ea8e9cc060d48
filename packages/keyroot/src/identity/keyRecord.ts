import { describeValue } from "../input/describeValue.ts";
import { ArgumentError } from "../errors.ts";
import { isObject, parseJson } from "../input/json.ts";
import { base64ByteLength, base64ToBytes, bytesToBase64 } from "../bytes/base64.ts";
import { checkPublicKey, KEY_ID_BYTES, keyIDOf, PUBLIC_KEY_BYTES } from "./publicKey.ts";
import { parseUserID, type UserID } from "./userID.ts";

/** A user's public key as it is published (specification, "Public key record"). */
export interface KeyRecord {
  userID: UserID;
  /** The public key's 105 bytes in base64. */
  pubKey: string;
  /** The first 16 bytes of SHA-256 over the public key, in base64. */
  keyID: string;
}

const FIELDS = ["userID", "pubKey", "keyID"] as const;

/** A record as we write it: recognised at once, in a third of the time that reading any JSON takes. */
const AS_WRITTEN =
  /^{"userID":"([ybndrfg8ejkmcpqxot1uwisza345h769]{32})","pubKey":"([A-Za-z0-9+/]{140})","keyID":"([A-Za-z0-9+/]{21}[AQgw]==)"}$/;

/**
 * The record of a user's public key.
 * @throws ArgumentError USER_ID_INVALID, and as `checkPublicKey`
 */
export function makeKeyRecord(userID: UserID, publicKey: Uint8Array): KeyRecord {
  checkPublicKey(publicKey);
  return { userID: parseUserID(userID), pubKey: bytesToBase64(publicKey), keyID: bytesToBase64(keyIDOf(publicKey)) };
}

/** The exact text that is published and hashed: the fields in this order, without spaces. */
export function serializeKeyRecord({ userID, pubKey, keyID }: KeyRecord): string {
  return JSON.stringify({ userID, pubKey, keyID });
}

/**
 * Reads a record from its text, with its fields in any order and spacing, and checks the form of all three. What the
 * key is worth tells `checkKeyRecord`.
 * @throws ArgumentError RECORD_INVALID, JSON_INVALID, JSON_TOO_DEEP, JSON_DUPLICATE_KEY, JSON_FORBIDDEN_TOKEN,
 * USER_ID_INVALID, BASE64_INVALID, PUBLIC_KEY_LENGTH, KEY_ID_INVALID
 */
export function parseKeyRecord(text: string): KeyRecord {
  const [, userID, pubKey, keyID] = AS_WRITTEN.exec(text) ?? [];
  if (userID !== undefined && pubKey !== undefined && keyID !== undefined) return { userID, pubKey, keyID };
  return toKeyRecord(parseJson(text, 1));
}

/** As `parseKeyRecord`, from a value that was parsed already. */
export function toKeyRecord(value: unknown): KeyRecord {
  if (
    !isObject(value) ||
    Object.keys(value).length !== FIELDS.length ||
    !FIELDS.every((key) => Object.hasOwn(value, key))
  ) {
    const actual = isObject(value) ? `the keys ${describeValue(Object.keys(value).join(", "))}` : describeValue(value);
    const message = `A key record is an object with exactly the keys ${FIELDS.join(", ")}, this one has ${actual}.`;
    throw new ArgumentError("RECORD_INVALID", message, { expected: FIELDS, actual: value });
  }
  const { userID, pubKey, keyID } = value;
  return {
    userID: parseUserID(userID),
    pubKey: base64Of(pubKey, PUBLIC_KEY_BYTES, "PUBLIC_KEY_LENGTH"),
    keyID: base64Of(keyID, KEY_ID_BYTES, "KEY_ID_INVALID"),
  };
}

/**
 * Checks what a record says of its key: that it is a point of the curve and not of small order, and that `keyID` is its.
 * @returns the public key's 105 bytes
 * @throws ArgumentError as `checkPublicKey`, and KEY_ID_MISMATCH
 */
export function checkKeyRecord({ pubKey, keyID }: KeyRecord): Uint8Array {
  const publicKey = base64ToBytes(pubKey);
  checkPublicKey(publicKey);
  const expected = bytesToBase64(keyIDOf(publicKey));
  if (keyID !== expected) {
    const message = `The key's id is ${expected}, the record says ${describeValue(keyID)}.`;
    throw new ArgumentError("KEY_ID_MISMATCH", message, { expected, actual: keyID });
  }
  return publicKey;
}

function base64Of(value: unknown, byteLength: number, code: "PUBLIC_KEY_LENGTH" | "KEY_ID_INVALID"): string {
  const length = base64ByteLength(value);
  if (length === byteLength) return value as string;
  const message = `${describeValue(value)} holds ${length} bytes instead of ${byteLength}.`;
  throw new ArgumentError(code, message, { expected: byteLength, actual: length });
}
