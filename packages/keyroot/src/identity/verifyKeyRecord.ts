import { VerificationError, verifying } from "../errors.ts";
import { bytesToBase64 } from "../bytes/base64.ts";
import { checkKeyRecord, type KeyRecord } from "./keyRecord.ts";

/**
 * Whether a published record holds a key, and the one that was handed out, where one was.
 * @param where where the record stands, for messages
 * @param handedOut the 105 bytes that a server handed out as this user's key
 * @returns the public key's 105 bytes
 * @throws VerificationError as `checkKeyRecord`, step "record"; KEY_MISMATCH, step "key"
 */
export function verifyKeyRecord(where: string, record: KeyRecord, handedOut: Uint8Array | undefined): Uint8Array {
  const publicKey = verifying("record", where, () => checkKeyRecord(record));
  const actual = handedOut && bytesToBase64(handedOut);
  if (actual === undefined || actual === record.pubKey) return publicKey;
  const message = `The key handed out for the user ${record.userID} is ${actual}, the published one is ${record.pubKey}.`;
  throw new VerificationError("key", "KEY_MISMATCH", message, { expected: record.pubKey, actual });
}
