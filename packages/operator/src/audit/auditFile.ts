import { hash } from "node:crypto";
import { ArgumentError, VerificationError } from "keyroot/internal/errors";
import {
  checkKeyRecord,
  checkPublicKey,
  curve41417,
  KEY_ID_BYTES,
  type KeyRecord,
  type KeyType,
  packUserIDs,
  USER_ID_BYTES,
  type UserID,
  userIDFromBytes,
} from "keyroot/internal/identity";
import { parseMerkleFile } from "keyroot/internal/merkle";
import { type Finding, finding } from "./finding.ts";

/**
 * The number of bytes that an audit stores per user of a file: the user id (20 bytes), and the start of the SHA-256 of
 * the user's key (16 bytes).
 */
export const USER_BYTES = USER_ID_BYTES + KEY_ID_BYTES;

/** Returns the user ids in a byte list that has `USER_BYTES` bytes per user. */
export function userIDsIn(users: Uint8Array): UserID[] {
  return Array.from({ length: users.length / USER_BYTES }, (_, i) => {
    return userIDFromBytes(users.subarray(i * USER_BYTES, i * USER_BYTES + USER_ID_BYTES));
  });
}

export interface FileAudit {
  /**
   * The users in the order of the file, with `USER_BYTES` bytes each. Undefined if the file does not match the root.
   */
  users: Uint8Array | undefined;
  findings: Finding[];
}

/**
 * Audits the file of a root without reading the chain: rebuilds the Merkle tree, and checks every key.
 * @param root 64 lowercase hex digits
 */
export function auditFile(bytes: Uint8Array, root: string, keyType: KeyType = curve41417): FileAudit {
  let records: readonly KeyRecord[];
  try {
    ({ records } = parseMerkleFile(bytes, root, keyType));
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    const message = `The file ${root}.json does not match its root. ${error.message}`;
    return { users: undefined, findings: [finding("FILE_INVALID", message, { root, detail: error.code })] };
  }
  const users = new Uint8Array(records.length * USER_BYTES);
  const buffer = Buffer.from(users.buffer);
  const findings: Finding[] = [];
  const userIDs = packUserIDs(records.map(({ userID }) => userID));
  for (const [i, record] of records.entries()) {
    const publicKey = Buffer.from(record.pubKey, "base64");
    const start = i * USER_BYTES;
    const keyID = start + USER_ID_BYTES;
    users.set(userIDs.subarray(i * USER_ID_BYTES, (i + 1) * USER_ID_BYTES), start);
    // Do not use the record's `keyID`. A false `keyID` could make two different keys look equal.
    buffer.write(hash("sha256", publicKey), keyID, KEY_ID_BYTES, "hex");
    const isOwnID = buffer.toString("base64", keyID, keyID + KEY_ID_BYTES) === record.keyID;
    if (!isOwnID || !isValidKey(publicKey, keyType)) findings.push(describeBadKey(record, root, keyType));
  }
  return { users, findings };
}

function isValidKey(publicKey: Uint8Array, keyType: KeyType): boolean {
  try {
    checkPublicKey(publicKey, keyType);
    return true;
  } catch (error) {
    if (error instanceof ArgumentError) return false;
    throw error;
  }
}

/** Describes what is wrong with a record. This takes twice as long as `isValidKey`, but names the exact fault. */
function describeBadKey(record: KeyRecord, root: string, keyType: KeyType): Finding {
  const { userID } = record;
  try {
    checkKeyRecord(record, keyType);
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    const message = `The key of the user ${userID} in ${root}.json is invalid. ${error.message}`;
    return finding("KEY_INVALID", message, { root, userID, detail: error.code });
  }
  throw new RangeError(`The two checks of the key of the user ${userID} have different results.`);
}
