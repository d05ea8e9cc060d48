import { Keccak } from "@noble/hashes/sha3.js";
import { bytesToHex } from "../bytes/hex.ts";

/**
 * Computes Ethereum's variant of Keccak-256 (Yellow Paper, section 3), which is FIPS 202 with a rate of 136 bytes and
 * the suffix 0x01. An app becomes 0.5 kB smaller with the package's `Keccak` class than with its `keccak_256`.
 * @returns 0x and 64 lowercase hex digits
 */
export function keccak256(bytes: Uint8Array): string {
  return `0x${bytesToHex(new Keccak(136, 0x01, 32).update(bytes).digest())}`;
}
