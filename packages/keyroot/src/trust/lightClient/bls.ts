import { normalizeZ } from "@noble/curves/abstract/curve.js";
import type { WeierstrassPoint } from "@noble/curves/abstract/weierstrass.js";
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { encodeUtf8 } from "../../engine/utf8.ts";

/**
 * Ethereum's BLS signatures (consensus-specs, `specs/phase0/beacon-chain.md`, "BLS signatures"). Public keys have 48
 * bytes (G1), and signatures have 96 bytes (G2).
 */

const CIPHERSUITE = encodeUtf8("BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_");

const bls = bls12_381.longSignatures;
const PublicKey = bls12_381.G1.Point;

/**
 * Checks the joint signature of a committee of which some members did not sign. The keys of these absent members are
 * subtracted from the sum of all keys, which is much faster than adding up the keys of all who signed. The caller must
 * have verified that the sum and the keys belong to the same committee.
 * @param sum the sum of all members' keys, 48 bytes
 * @param absent the keys of the members who did not sign, 48 bytes each
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
    // A key or the signature is not a valid point.
    return false;
  }
}

/**
 * Signs a message with a secret key, or with the sum of several secret keys. Only simulated networks use this function.
 */
export function sign(message: Uint8Array, secret: bigint): Uint8Array {
  return bls.sign(bls.hash(message, CIPHERSUITE), bls12_381.fields.Fr.toBytes(secret)).toBytes();
}

/** Returns the public keys of consecutive secret keys, and their sum. Only simulated networks use this function. */
export function publicKeysFrom(first: bigint, count: number): { keys: Uint8Array[]; sum: Uint8Array } {
  const points = [PublicKey.BASE.multiply(first)];
  for (let i = 1; i < count; i++) points.push((points[i - 1] ?? PublicKey.ZERO).add(PublicKey.BASE));
  const sum = points.reduce((sum, point) => sum.add(point), PublicKey.ZERO);
  return { keys: normalizeZ(PublicKey, points).map((point) => compress(point)), sum: compress(sum) };
}

/** Encodes a point. `point.toBytes()` would take ten times as long, because it also checks the point's group. */
function compress(point: WeierstrassPoint<bigint>): Uint8Array {
  const { x, y } = point.toAffine();
  const { Fp } = bls12_381.fields;
  const bytes = Fp.toBytes(x);
  // The flags show that the point is compressed, and that y is the larger of the two possible values.
  bytes[0] = (bytes[0] ?? 0) | 0x80 | (2n * y > Fp.ORDER ? 0x20 : 0);
  return bytes;
}
