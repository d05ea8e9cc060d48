import { hash } from "node:crypto";
import { base64ToBytes } from "keyroot/internal/bytes";
import { KEY_ID_BYTES, USER_ID_BYTES, type UserID, userIDToBytes } from "keyroot/internal/identity";
import { USER_BYTES } from "../audit/auditFile.ts";
import { type Finding, finding } from "../audit/finding.ts";
import type { WatchedUser } from "./pollChain.ts";

/** Checks that the file of a user's root contains the user with the right key. */
export function checkOwnRoot(user: WatchedUser, root: string, users: Uint8Array | undefined): Finding[] {
  if (users === undefined) return [];
  const { userID } = user;
  if (keyIDIn(users, userID) !== undefined) return checkWatchedUsers([user], root, users);
  const message = `The user ${userID} has the root ${root}, but is not in its file.`;
  return [finding("USER_NOT_IN_FILE", message, { root, userID })];
}

/** Returns a finding for each watched user to whom any root's file assigns a different key. */
export function checkWatchedUsers(
  watched: readonly WatchedUser[],
  root: string,
  users: Uint8Array | undefined,
): Finding[] {
  if (users === undefined) return [];
  return watched.flatMap(({ userID, pubKey }) => {
    const keyID = keyIDIn(users, userID);
    if (keyID === undefined || Buffer.compare(keyID, keyIDOf(pubKey)) === 0) return [];
    const message = `The file of ${root} contains a wrong key for the user ${userID}.`;
    return [finding("WATCHED_KEY_MISMATCH", message, { root, userID })];
  });
}

/** Returns the id of a key in base64, which may have any type. @throws ArgumentError BASE64_INVALID */
function keyIDOf(pubKey: string): Uint8Array {
  return hash("sha256", base64ToBytes(pubKey), "buffer").subarray(0, KEY_ID_BYTES);
}

/** Returns the first 16 bytes of SHA-256 over a user's key in a file. */
function keyIDIn(users: Uint8Array, userID: UserID): Uint8Array | undefined {
  const id = userIDToBytes(userID);
  for (let at = 0; at < users.length; at += USER_BYTES) {
    if (Buffer.compare(users.subarray(at, at + USER_ID_BYTES), id) === 0) {
      return users.subarray(at + USER_ID_BYTES, at + USER_BYTES);
    }
  }
  return undefined;
}
