/** The hex digits of an ABI word of 32 bytes. */
export const WORD_DIGITS = 64;

/** Encodes a number as an ABI `uint256`: 64 lowercase hex digits, without 0x. */
export function encodeUint(value: number): string {
  return value.toString(16).padStart(WORD_DIGITS, "0");
}
