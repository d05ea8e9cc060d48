import { VerificationError } from "../errors.ts";

/** The code hash of an account without code: Keccak-256 of an empty input (EIP-1052). */
export const EMPTY_CODE_HASH = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";

/**
 * Checks the code hash of a contract.
 * @param expected undefined to accept any code
 */
export function checkCodeHash(contract: string, expected: string | undefined, actual: string | undefined): void {
  if (expected === undefined || actual === expected) return;
  const message = `The code of the contract ${contract} has the hash ${actual} instead of ${expected}.`;
  throw new VerificationError("root", "CODE_HASH_MISMATCH", message, { expected, actual });
}
