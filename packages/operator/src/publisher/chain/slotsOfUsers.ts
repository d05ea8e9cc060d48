import { createKeccak } from "hash-wasm";
import { packUserIDs, USER_ID_BYTES, type UserID } from "keyroot/internal/identity";
import { USERS_SLOT } from "keyroot/internal/registry";

/** JavaScript would take three times as long as WebAssembly, which matters for a million storage slots. */
const keccak256 = await createKeccak(256);

/**
 * Returns the storage slots of users' roots, in the order of the user ids. It is faster than `slotOfUser` of `keyroot`,
 * and meant only for access lists, where a wrong slot would cost gas but do no other harm.
 * @returns slots of 0x and 64 lowercase hex digits
 * @throws ArgumentError USER_ID_INVALID
 */
export function slotsOfUsers(userIDs: readonly UserID[]): string[] {
  const key = new Uint8Array(64);
  key[63] = USERS_SLOT;
  const packed = packUserIDs(userIDs);
  return userIDs.map((_, i) => {
    key.set(packed.subarray(i * USER_ID_BYTES, (i + 1) * USER_ID_BYTES));
    return `0x${keccak256.init().update(key).digest()}`;
  });
}
