import { type Bytes, base64ToBytes, bytesToBase64 } from "../bytes/base64.ts";
import { ArgumentError } from "../errors.ts";
import { describeValue } from "../input/values.ts";
import { checkObject } from "../input/options.ts";
import { checkUntrusted } from "../input/untrusted.ts";
import { compareKey, type ExpectedBytes } from "./compareKey.ts";
import { curve41417 } from "./keyTypes/curve41417.ts";
import type { KeyType } from "./keyTypes/keyType.ts";
import type { KeyRecord } from "./serializedRecord.ts";
import { checkPublicKey, keyIDOf } from "./publicKey.ts";

/**
 * Checks the public key in a record as `checkPublicKey` does, and checks that `keyID` is the id of this key.
 * @param keyType the type of the registry's keys. Default: `curve41417`
 * @returns the bytes of the public key
 * @throws ArgumentError KEY_ID_MISMATCH, BASE64_INVALID, ARGUMENT_INVALID, or an error of `checkPublicKey`
 * @example
 * const publicKey = checkKeyRecord(parseKeyRecord(line));
 */
export function checkKeyRecord(record: KeyRecord, keyType: KeyType = curve41417): Bytes {
  const { pubKey, keyID } = checkObject("The record", record);
  const publicKey = base64ToBytes(pubKey);
  checkPublicKey(publicKey, keyType);
  const expected = bytesToBase64(keyIDOf(publicKey, keyType));
  if (keyID !== expected) {
    const message = `The key has the key id ${expected}, but the given key id is ${describeValue(keyID)}.`;
    throw new ArgumentError("KEY_ID_MISMATCH", message, { expected, actual: keyID });
  }
  return publicKey;
}

/**
 * Verifies the key in a published record, and compares it with the key that a server returned for the user.
 * @param path the path of the record in the document, for error messages
 * @param expectedPublicKey the key that a server returned for the user, or `ANY_KEY` for no comparison
 * @returns the bytes of the public key
 * @throws VerificationError as `checkKeyRecord`, step "record"; KEY_MISMATCH, step "key"
 */
export function verifyKeyRecord(
  path: string,
  record: KeyRecord,
  expectedPublicKey: ExpectedBytes,
  keyType?: KeyType,
): Bytes {
  const publicKey = checkUntrusted("record", path, () => checkKeyRecord(record, keyType));
  compareKey(record, expectedPublicKey);
  return publicKey;
}
