import { hexToBytes } from "../bytes/hex.ts";
import { keccak256 } from "../ethereum/keccak.ts";
import { type UserID, userIDToHex } from "../identity/userID.ts";
import { encodeUint, WORD_DIGITS } from "./words.ts";

/** The storage slot of the mapping from users to roots in `PublicKeyRegistry`. */
export const USERS_SLOT = 2;
/** The storage slot of the mapping from roots to block numbers in `PublicKeyRegistry`. */
const BLOCK_NUMBERS_SLOT = 3;
/** The storage slot of the number of users in `PublicKeyRegistry`: 0x and 64 hex digits. */
export const USER_COUNT_SLOT = `0x${encodeUint(4)}`;

/** The deployed predecessor `PubKeyTrust` on Ethereum's mainnet, and the slot of its mapping from users to roots. */
const PUB_KEY_TRUST = { chainId: 1, contract: "0x997715d0eb47a50d7521ed0d2d023624a4333f9a", usersSlot: 1 };

/** Returns the storage slot of a registry's mapping from users to roots. */
export function usersSlotOf({ chainId, contract }: { chainId: number; contract: string }): number {
  const isOlder = chainId === PUB_KEY_TRUST.chainId && contract.toLowerCase() === PUB_KEY_TRUST.contract;
  return isOlder ? PUB_KEY_TRUST.usersSlot : USERS_SLOT;
}

/**
 * Computes the storage slot of a user's root (Solidity, "Layout of State Variables in Storage", mappings). The slot is
 * the Keccak-256 of two words. The first word is the user id followed by 12 zero bytes, and the second one is the slot
 * of the mapping.
 * @param usersSlot the slot of the mapping
 * @returns 0x and 64 lowercase hex digits
 */
export function slotOfUser(userID: UserID, usersSlot: number): string {
  return keccak256(hexToBytes(userIDToHex(userID).padEnd(WORD_DIGITS, "0") + encodeUint(usersSlot)));
}

/**
 * Computes the storage slot of a root's block number in `PublicKeyRegistry`. The rule is the same as for a user's root
 * (see `slotOfUser`).
 * @param root 64 lowercase hex digits
 * @returns 0x and 64 lowercase hex digits
 */
export function slotOfBlockNumber(root: string): string {
  return keccak256(hexToBytes(root + encodeUint(BLOCK_NUMBERS_SLOT)));
}
