import { normalizeZ } from "@noble/curves/abstract/curve.js";
import type { WeierstrassPoint } from "@noble/curves/abstract/weierstrass.js";
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { encodeUtf8 } from "../../engine/utf8.ts";

/**
 * BLS signatures as Ethereum uses them (consensus-specs, `specs/phase0/beacon-chain.md`, "BLS signatures"): keys of 48 bytes in G1,
 * signatures of 96 bytes in G2.
 */

const CIPHERSUITE = encodeUtf8("BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_");

const bls = bls12_381.longSignatures;
const PublicKey = bls12_381.G1.Point;

/**
 * Whether the owners of all keys but the absent ones signed a message. The sum of the keys minus the absent ones takes much less time
 * than the sum of the others. The sum and the keys must be from one committee whose root is verified.
 * @param sum of all keys, 48 bytes
 * @param signature 96 bytes
 */
export function isSignedByAllBut(
  sum: Uint8Array,
  absent: readonly Uint8Array[],
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  try {
    let key = PublicKey.fromBytes(sum);
    for (const member of absent) key = key.subtract(PublicKey.fromBytes(member));
    return !key.is0() && bls.verify(bls.Signature.fromBytes(signature), bls.hash(message, CIPHERSUITE), key);
  } catch {
    // The key or signature is not a point of its group.
    return false;
  }
}

/** Signs with a secret key, or with the sum of several. For tests. */
export function sign(message: Uint8Array, secret: bigint): Uint8Array {
  return bls.sign(bls.hash(message, CIPHERSUITE), bls12_381.fields.Fr.toBytes(secret)).toBytes();
}

/** The public keys of the secret keys from `first` on, and their sum. For tests. */
export function publicKeysFrom(first: bigint, count: number): { keys: Uint8Array[]; sum: Uint8Array } {
  const points = [PublicKey.BASE.multiply(first)];
  for (let i = 1; i < count; i++) points.push((points[i - 1] ?? PublicKey.ZERO).add(PublicKey.BASE));
  const sum = points.reduce((sum, point) => sum.add(point), PublicKey.ZERO);
  return { keys: normalizeZ(PublicKey, points).map((point) => compress(point)), sum: compress(sum) };
}

/** Replaces `point.toBytes()`, which checks the point's group first and so takes ten times as long. */
function compress(point: WeierstrassPoint<bigint>): Uint8Array {
  const { x, y } = point.toAffine();
  const { Fp } = bls12_381.fields;
  const bytes = Fp.toBytes(x);
  // Flags: compressed, and whether y is the larger root.
  bytes[0] = (bytes[0] ?? 0) | 0x80 | (2n * y > Fp.ORDER ? 0x20 : 0);
  return bytes;
}
