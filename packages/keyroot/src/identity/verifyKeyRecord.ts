import { VerificationError } from "../errors.ts";
import { bytesToBase64 } from "../bytes/base64.ts";
import { checkUntrusted } from "../input/checkUntrusted.ts";
import { checkKeyRecord, type KeyRecord } from "./keyRecord.ts";

/**
 * Verifies the key in a published record, and compares it with the key that a server gave for the user, if there is one.
 * @param path the path of the record in its document, for error messages
 * @param expectedPublicKey the key that a server gave for the user
 * @returns the public key's 105 bytes
 * @throws VerificationError as `checkKeyRecord`, step "record"; KEY_MISMATCH, step "key"
 */
export function verifyKeyRecord(
  path: string,
  record: KeyRecord,
  expectedPublicKey: Uint8Array | undefined,
): Uint8Array {
  const publicKey = checkUntrusted("record", path, () => checkKeyRecord(record));
  const actual = expectedPublicKey && bytesToBase64(expectedPublicKey);
  if (actual === undefined || actual === record.pubKey) return publicKey;
  const message = `The given key of the user ${record.userID} is ${actual}, but the published key is ${record.pubKey}. Do not use the given key.`;
  throw new VerificationError("key", "KEY_MISMATCH", message, { expected: record.pubKey, actual });
}
