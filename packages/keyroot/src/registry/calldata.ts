import { describeValue } from "../input/describeValue.ts";
import { TransportError, VerificationError } from "../errors.ts";
import { type UserID, userIDToHex } from "../identity/userID.ts";

/** The slot of the contract's mapping from users to roots. The format's first contract, `PubKeyTrust`, has it at 1. */
export const USERS_SLOT = 2;

/** Function selectors: the first 4 bytes of Keccak-256 of the signature (specification, "Step 1"). */
const GET_MERKLE_TREE_ROOT = "0xee94c797";
const GET_BLOCK_NUMBER = "0x47378145";
const ADD_MERKLE_TREE_ROOT = "0x12e36530";
/** The calldata of `userCount()`. */
export const USER_COUNT_CALL = "0x07973ccf";
/** The slot of the number of users. */
export const USER_COUNT_SLOT = 4;

/** The calldata of `getMerkleTreeRoot(bytes20)`: selector, the id's 20 bytes, 12 zero bytes. @throws ArgumentError */
export function encodeGetMerkleTreeRoot(userID: UserID): string {
  return GET_MERKLE_TREE_ROOT + userIDToHex(userID) + "0".repeat(24);
}

/** The calldata of `getBlockNumber(bytes32)`. @param root 64 hex digits in lower case */
export function encodeGetBlockNumber(root: string): string {
  return GET_BLOCK_NUMBER + root;
}

/**
 * The calldata of `addMerkleTreeRoot(bytes32,bytes)`: selector, root, where the packed ids begin, their length in bytes,
 * the ids' 20 bytes end to end, and zero bytes up to a whole word.
 * @param root 64 hex digits in lower case
 * @throws ArgumentError
 */
export function encodeAddMerkleTreeRoot(root: string, userIDs: readonly UserID[]): string {
  const packed = userIDs.map(userIDToHex).join("");
  const [start, length] = [64, packed.length / 2].map((number) => number.toString(16).padStart(64, "0"));
  return `${ADD_MERKLE_TREE_ROOT}${root}${start}${length}${packed.padEnd(Math.ceil(packed.length / 64) * 64, "0")}`;
}

/**
 * Reads the answer to `getMerkleTreeRoot`.
 * @returns the root, 64 hex digits in lower case; undefined where the user has none
 * @throws VerificationError NO_CONTRACT; TransportError RPC_ANSWER_INVALID
 */
export function decodeMerkleTreeRoot(answer: unknown): string | undefined {
  const root = decodeWord(answer);
  return /^0+$/.test(root) ? undefined : root;
}

/** Reads the answer to `getBlockNumber`. @throws as `decodeMerkleTreeRoot` */
export function decodeBlockNumber(answer: unknown): number {
  return toSafeNumber(`0x${decodeWord(answer)}`, answer);
}

/** Reads the answer to `userCount`, or the slot that holds it. @throws as `decodeMerkleTreeRoot` */
export function decodeUserCount(answer: unknown): number {
  return toSafeNumber(`0x${decodeWord(answer)}`, answer);
}

/** Reads the answer to `eth_chainId`, a quantity in hex. @throws TransportError RPC_ANSWER_INVALID */
export function decodeChainId(answer: unknown): number {
  if (typeof answer !== "string" || !/^0x[0-9a-f]{1,16}$/i.test(answer)) throw invalidAnswer(answer);
  return toSafeNumber(answer, answer);
}

/** Reads the answer to `eth_getCode`. @returns hex digits without 0x @throws TransportError RPC_ANSWER_INVALID */
export function decodeCode(answer: unknown): string {
  if (typeof answer !== "string" || !/^0x[0-9a-f]*$/i.test(answer) || answer.length % 2 !== 0)
    throw invalidAnswer(answer);
  return answer.slice(2);
}

function decodeWord(answer: unknown): string {
  if (answer === "0x") {
    const message = "There is no such contract at this address: its answer is 0x.";
    throw new VerificationError("root", "NO_CONTRACT", message, { actual: answer });
  }
  if (typeof answer !== "string" || !/^0x[0-9a-f]{64}$/i.test(answer)) throw invalidAnswer(answer);
  return answer.slice(2).toLowerCase();
}

function toSafeNumber(hex: string, answer: unknown): number {
  const number = Number(hex);
  if (!Number.isSafeInteger(number)) throw invalidAnswer(answer);
  return number;
}

function invalidAnswer(answer: unknown): TransportError {
  const actual = describeValue(answer);
  const message = `The endpoint's answer is not of the form that was asked for: ${actual}.`;
  return new TransportError("RPC_ANSWER_INVALID", message, { actual });
}
