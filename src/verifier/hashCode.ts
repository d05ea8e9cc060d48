/** Keccak-256 of a contract's code (EIP-1052). Loaded when asked for: most callers never need it. */
export async function hashCode(code: string): Promise<string> {
  const { keccak_256 } = await import("@noble/hashes/sha3.js");
  const { bytesToHex, hexToBytes } = await import("@noble/hashes/utils.js");
  return `0x${bytesToHex(keccak_256(hexToBytes(code)))}`;
}
