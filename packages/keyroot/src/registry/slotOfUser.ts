import { hexToBytes } from "../bytes/platform.ts";
import { keccak256 } from "../ethereum/keccak.ts";
import { type UserID, userIDToHex } from "../identity/userID.ts";
import { encodeUint, WORD_DIGITS } from "./words.ts";

/**
 * The storage slot of a user's root: Keccak-256 of the user id, padded on the right to 32 bytes, and the mapping's slot
 * (Solidity, "Layout of State Variables in Storage", mappings).
 * @param usersSlot the slot of the mapping
 * @returns 0x and 64 lowercase hex digits
 * @throws ArgumentError USER_ID_INVALID
 */
export function slotOfUser(userID: UserID, usersSlot: number): string {
  return keccak256(hexToBytes(userIDToHex(userID).padEnd(WORD_DIGITS, "0") + encodeUint(usersSlot)));
}
