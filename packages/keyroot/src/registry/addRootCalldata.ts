import type { UserID } from "../identity/userID.ts";
import { packUserIDs } from "../identity/userIDBytes.ts";
import { encodeBytes, encodeUint } from "./words.ts";

/** The function selector, as in `calldata.ts`. */
const ADD_MERKLE_TREE_ROOT = "0x12e36530";

/**
 * Makes the calldata of `addMerkleTreeRoot(bytes32,bytes)`. It consists of the selector, the root, the offset of the
 * user ids, their total length in bytes, and the user ids. Each user id has 20 bytes, and zeros fill the last word.
 * @param root 64 lowercase hex digits
 */
export function encodeAddMerkleTreeRoot(root: string, userIDs: readonly UserID[]): string {
  return ADD_MERKLE_TREE_ROOT + root + encodeUint(64) + encodeBytes(packUserIDs(userIDs));
}
