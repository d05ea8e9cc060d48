import { bytesToHex } from "../bytes/hex.ts";

/** The number of hex digits in an ABI word of 32 bytes. */
export const WORD_DIGITS = 64;

/** Encodes a number as an ABI `uint256`: 64 lowercase hex digits, without 0x. */
export function encodeUint(value: number): string {
  return value.toString(16).padStart(WORD_DIGITS, "0");
}

/**
 * Encodes bytes as the ABI type `bytes`, in lowercase hex without 0x. The result is the number of bytes, the bytes
 * themselves, and zeros up to a whole word.
 */
export function encodeBytes(bytes: Uint8Array): string {
  const words = Math.ceil(bytes.length / 32);
  return encodeUint(bytes.length) + bytesToHex(bytes).padEnd(words * WORD_DIGITS, "0");
}
