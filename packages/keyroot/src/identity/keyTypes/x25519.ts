import { loadModule } from "../../engine/loadModule.ts";
import { bytesToHex } from "../../bytes/hex.ts";
import { checkLength, invalidKey, type KeyType } from "./keyType.ts";
import { ROWS } from "./rows.ts";

const p = 2n ** 255n - 19n;

/**
 * The u-coordinates of the points whose order divides 8, on Curve25519 and on its twist (Bernstein, "Curve25519: new
 * Diffie-Hellman speed records", and cr.yp.to/ecdh.html#validate). If a public key is one of these points, every shared
 * secret with it is zero (RFC 7748, section 6.1).
 */
const LOW_ORDER: readonly bigint[] = [
  0n,
  1n,
  325606250916557431795983626356110631294008115727848805560023387167927233504n,
  39382357235489614581723060781553021112529911719440698176882885853963445705823n,
  p - 1n,
];

/**
 * X25519 keys (RFC 7748), which are u-coordinates of 32 little-endian bytes. A coordinate must be less than 2^255 - 19.
 * Otherwise, one key could have two encodings, and therefore two ids. The point must not have a low order.
 */
export const x25519: KeyType = {
  ...ROWS.x25519,
  check(bytes) {
    const u = BigInt(`0x${bytesToHex(new Uint8Array(checkLength(bytes, x25519)).reverse())}`);
    if (u >= p) throw invalidKey("PUBLIC_KEY_FORMAT", "must be a coordinate below 2^255 - 19", bytes);
    if (LOW_ORDER.includes(u)) throw invalidKey("PUBLIC_KEY_SMALL_ORDER", "is a point of low order", bytes);
  },
};

/** Generates a key pair for samples and tests. */
export async function generate() {
  const { secretKey, publicKey } = (
    await loadModule(async () => (await import("@noble/curves/ed25519.js")).x25519)
  ).keygen();
  return { publicKey, privateKey: secretKey };
}
