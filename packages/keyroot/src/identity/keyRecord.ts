import { bytesToBase64 } from "../bytes/base64.ts";
import { parseJson } from "../input/parseJson.ts";
import { checkPublicKey, keyIDOf } from "./publicKey.ts";
import { type KeyRecord, parseSerializedRecord } from "./serializedRecord.ts";
import { toKeyRecord } from "./toKeyRecord.ts";
import { parseUserID, type UserID } from "./userID.ts";

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
 * Parses the text of a record, and checks the form of the three fields. The fields may have any order and spacing. Does
 * not check the key itself. `checkKeyRecord` checks the key.
 * @throws ArgumentError RECORD_INVALID, JSON_INVALID, JSON_TOO_DEEP, JSON_DUPLICATE_KEY, JSON_FORBIDDEN_TOKEN,
 * USER_ID_INVALID, BASE64_INVALID, PUBLIC_KEY_LENGTH, KEY_ID_INVALID
 * @example
 * const { userID, pubKey } = parseKeyRecord(line);
 */
export function parseKeyRecord(text: string): KeyRecord {
  return parseSerializedRecord(text) ?? toKeyRecord(parseJson(text, 1));
}
