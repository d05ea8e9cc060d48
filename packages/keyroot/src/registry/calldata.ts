import { packUserIDs, type UserID, userIDToHex } from "../identity/userID.ts";
import { encodeBytes, encodeUint, WORD_DIGITS } from "./words.ts";

/** Function selectors: the first 4 bytes of Keccak-256 of the signature (docs/specification.md, "Step 1"). */
const ADD_MERKLE_TREE_ROOT = "0x12e36530";
const GET_BLOCK_NUMBER = "0x47378145";
const GET_MERKLE_TREE_ROOT = "0xee94c797";
/** The calldata of `owner()`. */
export const OWNER_CALL = "0x8da5cb5b";
/** The calldata of `userCount()`. */
export const USER_COUNT_CALL = "0x07973ccf";

/** The root for which `getBlockNumber` returns the block of the contract's deployment. */
export const ZERO_ROOT = "0".repeat(WORD_DIGITS);

/** The calldata of `getMerkleTreeRoot(bytes20)`: selector, the 20 bytes of the id, 12 zero bytes. @throws ArgumentError USER_ID_INVALID */
export function encodeGetMerkleTreeRoot(userID: UserID): string {
  return GET_MERKLE_TREE_ROOT + userIDToHex(userID).padEnd(WORD_DIGITS, "0");
}

/** The calldata of `getBlockNumber(bytes32)`. @param root 64 lowercase hex digits */
export function encodeGetBlockNumber(root: string): string {
  return GET_BLOCK_NUMBER + root;
}

/**
 * The calldata of `addMerkleTreeRoot(bytes32,bytes)`: selector, root, offset of the packed ids, their length in bytes, the
 * ids of 20 bytes each in a row, and zero bytes up to a multiple of 32.
 * @param root 64 lowercase hex digits
 * @throws ArgumentError USER_ID_INVALID
 */
export function encodeAddMerkleTreeRoot(root: string, userIDs: readonly UserID[]): string {
  return ADD_MERKLE_TREE_ROOT + root + encodeUint(64) + encodeBytes(packUserIDs(userIDs));
}
