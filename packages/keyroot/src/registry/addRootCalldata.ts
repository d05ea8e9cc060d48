import type { UserID } from "../identity/userID.ts";
import { packUserIDs } from "../identity/userIDBytes.ts";
import { encodeBytes, encodeUint } from "./words.ts";

/** The function selector, as in `calldata.ts`. */
const ADD_MERKLE_TREE_ROOT = "0x12e36530";

/**
 * Makes the calldata of `addMerkleTreeRoot(bytes32,bytes)`: the selector, the root, the offset and length in bytes of
 * the user ids, and the user ids (20 bytes each), with zeros up to a whole word.
 * @param root 64 lowercase hex digits
 */
export function encodeAddMerkleTreeRoot(root: string, userIDs: readonly UserID[]): string {
  return ADD_MERKLE_TREE_ROOT + root + encodeUint(64) + encodeBytes(packUserIDs(userIDs));
}
