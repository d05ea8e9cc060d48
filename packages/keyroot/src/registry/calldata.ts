import { type UserID, userIDToHex } from "../identity/userID.ts";
import { WORD_DIGITS } from "./words.ts";

/**
 * The contract's function selectors: the first 4 bytes of the signature's Keccak-256 (docs/specification.md, "Step 1").
 */
const GET_BLOCK_NUMBER = "0x47378145";
const GET_MERKLE_TREE_ROOT = "0xee94c797";
export const OWNER_CALL = "0x8da5cb5b";
export const USER_COUNT_CALL = "0x07973ccf";

/** The zero root. For this root, `getBlockNumber` returns the block in which the contract was deployed. */
export const ZERO_ROOT = "0".repeat(WORD_DIGITS);

/** Makes the calldata of `getMerkleTreeRoot(bytes20)`: the selector, the user id (20 bytes) and 12 zero bytes. */
export function encodeGetMerkleTreeRoot(userID: UserID): string {
  return GET_MERKLE_TREE_ROOT + userIDToHex(userID).padEnd(WORD_DIGITS, "0");
}

/** Makes the calldata of `getBlockNumber(bytes32)`. @param root 64 lowercase hex digits */
export function encodeGetBlockNumber(root: string): string {
  return GET_BLOCK_NUMBER + root;
}
