import { encodeUtf8 } from "../engine/utf8.ts";
import { invalidArgument } from "../input/options.ts";
import { keccak256 } from "./keccak.ts";

/**
 * Matches an address that contains lowercase and uppercase letters, because only such an address has a checksum
 * (EIP-55).
 */
const MIXED_CASE = /[a-f].*[A-F]|[A-F].*[a-f]/;

/**
 * Checks the checksum of an address, which is encoded in the case of its letters (EIP-55). If all letters have the same
 * case, the address has no checksum and is accepted.
 * @param address 0x and 40 hex digits
 */
export function hasValidChecksum(address: string): boolean {
  const digits = address.slice(2);
  if (!MIXED_CASE.test(digits)) return true;
  const hash = keccak256(encodeUtf8(digits.toLowerCase())).slice(2);
  const isUpper = (i: number) => hash.charAt(i) >= "8";
  const expected = digits.toLowerCase().replace(/[a-f]/g, (a, i: number) => (isUpper(i) ? a.toUpperCase() : a));
  return digits === expected;
}

/**
 * Rejects a contract address that has a wrong checksum.
 * @param contract 0x and 40 hex digits
 */
export function checkChecksum(contract: string): void {
  if (!hasValidChecksum(contract))
    throw invalidArgument("The contract option", "an address with a valid checksum (EIP-55)", contract);
}
