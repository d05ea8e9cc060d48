import { hexToBytes } from "../bytes/hex.ts";
import { keccak256 } from "../ethereum/keccak.ts";
import { type UserID, userIDToHex } from "../identity/userID.ts";
import { BLOCK_NUMBERS_SLOT } from "./slots.ts";
import { encodeUint, WORD_DIGITS } from "./words.ts";

/**
 * Computes the storage slot of a user's root (Solidity, "Layout of State Variables in Storage", mappings). The slot is
 * the Keccak-256 of two words: the user id followed by 12 zero bytes, and the slot of the mapping.
 * @param usersSlot the slot of the mapping
 * @returns 0x and 64 lowercase hex digits
 * @throws ArgumentError USER_ID_INVALID
 */
export function slotOfUser(userID: UserID, usersSlot: number): string {
  return keccak256(hexToBytes(userIDToHex(userID).padEnd(WORD_DIGITS, "0") + encodeUint(usersSlot)));
}

/**
 * Computes the storage slot of a root's block number in `PublicKeyRegistry`, as `slotOfUser` does for a user's root.
 * @param root 64 lowercase hex digits
 * @returns 0x and 64 lowercase hex digits
 */
export function slotOfBlockNumber(root: string): string {
  return keccak256(hexToBytes(root + encodeUint(BLOCK_NUMBERS_SLOT)));
}
