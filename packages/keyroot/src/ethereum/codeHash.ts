import { hexToBytes } from "@noble/hashes/utils.js";
import { bytesToHex } from "../bytes/platform.ts";

/** Keccak-256 of a contract's code, given in hex (EIP-1052). Loaded when asked for: most callers never need it. */
export async function codeHashOf(code: string): Promise<string> {
  const { keccak_256 } = await import("@noble/hashes/sha3.js");
  return `0x${bytesToHex(keccak_256(hexToBytes(code)))}`;
}
