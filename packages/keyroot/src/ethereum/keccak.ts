import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex } from "../bytes/platform.ts";

/** Keccak-256 as Ethereum uses it (Yellow Paper, section 3). @returns 0x and 64 lowercase hex digits */
export function keccak256(bytes: Uint8Array): string {
  return `0x${bytesToHex(keccak_256(bytes))}`;
}
