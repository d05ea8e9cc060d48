import { packUserIDs, USER_ID_BYTES, type UserID } from "keyroot/internal/identity";
import { USERS_SLOT } from "keyroot/internal/registry";
import { keccak256Bytes } from "./keccak256.ts";

const HASH_BYTES = 32;

/**
 * Returns the storage slots of users' roots, in the order of the user ids. It is a faster form of `slotOfUser` in
 * `keyroot`, for access lists, where a wrong slot would only cost gas.
 * @returns slots of 0x and 64 lowercase hex digits
 * @throws ArgumentError USER_ID_INVALID
 */
export function slotsOfUsers(userIDs: readonly UserID[]): string[] {
  const key = new Uint8Array(64);
  key[63] = USERS_SLOT;
  const packed = packUserIDs(userIDs);
  const hashes = Buffer.alloc(HASH_BYTES * userIDs.length);
  for (let i = 0; i < userIDs.length; i++) {
    key.set(packed.subarray(i * USER_ID_BYTES, (i + 1) * USER_ID_BYTES));
    hashes.set(keccak256Bytes(key), i * HASH_BYTES);
  }
  return userIDs.map((_, i) => `0x${hashes.toString("hex", i * HASH_BYTES, (i + 1) * HASH_BYTES)}`);
}
