import { packUserIDs, type UserID, userIDToHex } from "../identity/userID.ts";
import { encodeBytes, encodeUint, WORD_DIGITS } from "./words.ts";

/**
 * The contract's function selectors: the first 4 bytes of the signature's Keccak-256 (docs/specification.md, "Step 1").
 */
const ADD_MERKLE_TREE_ROOT = "0x12e36530";
const GET_BLOCK_NUMBER = "0x47378145";
const GET_MERKLE_TREE_ROOT = "0xee94c797";
export const OWNER_CALL = "0x8da5cb5b";
export const USER_COUNT_CALL = "0x07973ccf";

/** The zero root. For this root, `getBlockNumber` returns the block in which the contract was deployed. */
export const ZERO_ROOT = "0".repeat(WORD_DIGITS);

/**
 * Makes the calldata of `getMerkleTreeRoot(bytes20)`: selector, user id (20 bytes) and 12 zero bytes. @throws
 * ArgumentError USER_ID_INVALID
 */
export function encodeGetMerkleTreeRoot(userID: UserID): string {
  return GET_MERKLE_TREE_ROOT + userIDToHex(userID).padEnd(WORD_DIGITS, "0");
}

/** Makes the calldata of `getBlockNumber(bytes32)`. @param root 64 lowercase hex digits */
export function encodeGetBlockNumber(root: string): string {
  return GET_BLOCK_NUMBER + root;
}

/**
 * Makes the calldata of `addMerkleTreeRoot(bytes32,bytes)`. The calldata contains the selector, the root, the user ids'
 * offset and length in bytes, and the user ids (20 bytes each). Zero bytes fill the last word.
 * @param root 64 lowercase hex digits
 * @throws ArgumentError USER_ID_INVALID
 */
export function encodeAddMerkleTreeRoot(root: string, userIDs: readonly UserID[]): string {
  return ADD_MERKLE_TREE_ROOT + root + encodeUint(64) + encodeBytes(packUserIDs(userIDs));
}
