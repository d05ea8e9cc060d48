import { hash } from "node:crypto";
import { ArgumentError, VerificationError } from "keyroot/errors";
import { checkUntrusted } from "keyroot/input";
import { checkKeyRecord, type KeyRecord } from "keyroot/identity";
import { checkPublicKey, KEY_ID_BYTES } from "keyroot/identity";
import { USER_ID_BYTES, userIDToBytes } from "keyroot/identity";
import { parseMerkleFile } from "keyroot/merkle";
import { type Finding, finding } from "./finding.ts";

/** What is kept of a user of a file: the id, and the first 16 bytes of SHA-256 over the key. */
export const USER_BYTES = USER_ID_BYTES + KEY_ID_BYTES;

/** What came of a file. */
export interface JudgedFile {
  /** Its users in the file's order, 36 bytes each; undefined where the file is none of this root. */
  users: Uint8Array | undefined;
  findings: Finding[];
}

/**
 * Judges a root's file by itself: rebuilds its tree in full, and checks every key.
 * @param root 64 hex digits in lower case
 */
export function judgeFile(bytes: Uint8Array, root: string): JudgedFile {
  let records: readonly KeyRecord[];
  try {
    ({ records } = parseMerkleFile(bytes, root));
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    const message = `The file ${root}.json is not the one of its root. ${error.message}`;
    return { users: undefined, findings: [finding("FILE_INVALID", message, { root, detail: error.code })] };
  }
  const users = new Uint8Array(records.length * USER_BYTES);
  const findings: Finding[] = [];
  for (const [i, record] of records.entries()) {
    const publicKey = Buffer.from(record.pubKey, "base64");
    // Not the record's own `keyID`, which may be false: two keys must not pass for one.
    const keyID = Buffer.from(hash("sha256", publicKey).slice(0, 2 * KEY_ID_BYTES), "hex");
    users.set(userIDToBytes(record.userID), i * USER_BYTES);
    users.set(keyID, i * USER_BYTES + USER_ID_BYTES);
    if (!isGood(publicKey) || keyID.toString("base64") !== record.keyID) findings.push(judgeKey(record, i, root));
  }
  return { users, findings };
}

function isGood(publicKey: Uint8Array): boolean {
  try {
    checkPublicKey(publicKey);
    return true;
  } catch (error) {
    if (error instanceof ArgumentError) return false;
    throw error;
  }
}

/** What is wrong with a key: by the portable check, which takes twice the time. */
function judgeKey(record: KeyRecord, i: number, root: string): Finding {
  const { userID } = record;
  try {
    checkUntrusted("record", `values[${i}]`, () => checkKeyRecord(record));
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    const message = `The key of the user ${userID} in ${root}.json is none. ${error.message}`;
    return finding("KEY_INVALID", message, { root, userID, detail: error.code });
  }
  throw new RangeError(`The key of values[${i}] is good and bad.`);
}
