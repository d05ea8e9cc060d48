import { invalidAnswer } from "../ethereum/rpcValues.ts";
import { type UserID, userIDToHex } from "../identity/userID.ts";
import { decodeBlockNumber, decodeMerkleTreeRoot } from "./answers.ts";
import { WORD_DIGITS } from "./words.ts";

/** The selector of `getUserInfo(bytes20)`. */
const GET_USER_INFO = "0x829a34c6";

/** A user's root, 64 lowercase hex digits, and the number of the block in which the root was first set. */
export interface UserInfo {
  root: string;
  blockNumber: number;
}

/**
 * Makes the calldata of `getUserInfo(bytes20)`: selector, user id (20 bytes) and 12 zero bytes. @throws ArgumentError
 * USER_ID_INVALID
 */
export function encodeGetUserInfo(userID: UserID): string {
  return GET_USER_INFO + userIDToHex(userID).padEnd(WORD_DIGITS, "0");
}

/**
 * Decodes the result of `getUserInfo`.
 * @returns undefined if the user has no root
 * @throws VerificationError NO_CONTRACT; TransportError RPC_ANSWER_INVALID
 */
export function decodeUserInfo(answer: unknown): UserInfo | undefined {
  if (typeof answer !== "string") throw invalidAnswer("two words in hex", answer);
  const end = "0x".length + WORD_DIGITS;
  const root = decodeMerkleTreeRoot(answer.slice(0, end));
  if (root === undefined) return undefined;
  return { root, blockNumber: decodeBlockNumber(`0x${answer.slice(end)}`) };
}
