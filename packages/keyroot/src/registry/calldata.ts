import { VerificationError } from "../errors.ts";
import { isHash } from "../ethereum/hash.ts";
import { invalidAnswer } from "../ethereum/invalidAnswer.ts";
import { parseSafeQuantity } from "../ethereum/quantity.ts";
import { packUserIDs, type UserID, userIDToHex } from "../identity/userID.ts";
import { encodeBytes, encodeUint, WORD_DIGITS } from "./words.ts";

/** Function selectors: the first 4 bytes of Keccak-256 of the signature (specification, "Step 1"). */
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

/**
 * Decodes the answer to `getMerkleTreeRoot`.
 * @returns the root, 64 lowercase hex digits; undefined if the user has no root
 * @throws VerificationError NO_CONTRACT; TransportError RPC_ANSWER_INVALID
 */
export function decodeMerkleTreeRoot(answer: unknown): string | undefined {
  const root = decodeWord(answer);
  return root === ZERO_ROOT ? undefined : root;
}

/**
 * Decodes the answer to `getBlockNumber`.
 * @param highest the number of the block at which the contract was read: a root is not newer
 * @throws as `decodeMerkleTreeRoot`
 */
export function decodeBlockNumber(answer: unknown, highest = Infinity): number {
  const number = parseSafeQuantity(`0x${decodeWord(answer)}`);
  if (number <= highest) return number;
  throw invalidAnswer(`a block number of at most ${highest}`, number);
}

/** Decodes the answer to `userCount`, or the value of its storage slot. @throws as `decodeMerkleTreeRoot` */
export function decodeUserCount(answer: unknown): number {
  return parseSafeQuantity(`0x${decodeWord(answer)}`);
}

/** Decodes the answer to `owner`. @returns 0x and 40 lowercase hex digits @throws as `decodeMerkleTreeRoot` */
export function decodeOwner(answer: unknown): string {
  const word = decodeWord(answer);
  if (!/^0{24}/.test(word)) throw invalidAnswer("an address of 20 bytes, padded to 32 bytes", answer);
  return `0x${word.slice(24)}`;
}

function decodeWord(answer: unknown): string {
  if (answer === "0x") {
    const message = "The contract's address has no code, or the code of another contract: the answer is 0x.";
    throw new VerificationError("root", "NO_CONTRACT", message, { actual: answer });
  }
  if (!isHash(answer)) throw invalidAnswer("a word of 32 bytes (0x and 64 hex digits)", answer);
  return answer.slice(2).toLowerCase();
}
