import { VerificationError } from "../errors.ts";
import { invalidAnswer, isHash, parseSafeQuantity } from "../ethereum/rpcValues.ts";
import { ZERO_ROOT } from "./calldata.ts";

/**
 * Decodes the result of `getMerkleTreeRoot`.
 * @returns the root, 64 lowercase hex digits, or undefined if the user has no root
 */
export function decodeMerkleTreeRoot(answer: unknown): string | undefined {
  const root = decodeWord(answer);
  return root === ZERO_ROOT ? undefined : root;
}

/**
 * Decodes the result of `getBlockNumber`.
 * @param highest the number of the block at which the contract was read. A root cannot have a higher block number than
 * this one.
 */
export function decodeBlockNumber(answer: unknown, highest = Infinity): number {
  const number = parseSafeQuantity(`0x${decodeWord(answer)}`);
  if (number <= highest) return number;
  throw invalidAnswer(`a block number of at most ${highest}`, number);
}

/** Decodes the result of `userCount`, or the value of the storage slot that contains the number of users. */
export function decodeUserCount(answer: unknown): number {
  return parseSafeQuantity(`0x${decodeWord(answer)}`);
}

/**
 * Decodes the result of `owner`.
 * @returns 0x and 40 lowercase hex digits
 */
export function decodeOwner(answer: unknown): string {
  const word = decodeWord(answer);
  if (!/^0{24}/.test(word)) throw invalidAnswer("an address of 20 bytes, padded to 32 bytes", answer);
  return `0x${word.slice(24)}`;
}

/** Decodes an ABI word of 32 bytes. @returns 64 lowercase hex digits */
function decodeWord(answer: unknown): string {
  if (answer === "0x") {
    const message = "The result is 0x. The address has no registry in this block. Check the address and the block.";
    throw new VerificationError("root", "NO_CONTRACT", message, { actual: answer });
  }
  if (!isHash(answer)) throw invalidAnswer("a word of 32 bytes (0x and 64 hex digits)", answer);
  return answer.slice(2).toLowerCase();
}
