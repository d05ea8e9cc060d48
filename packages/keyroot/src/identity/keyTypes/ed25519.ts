import { ed25519 as curve } from "@noble/curves/ed25519.js";
import { checkLength, invalidKey, type KeyType } from "./keyType.ts";
import { ROWS } from "./rows.ts";

/**
 * Ed25519 keys (RFC 8032) as 32 bytes, which must be the canonical encoding of a point of prime order. Other encodings
 * and points are rejected, because implementations disagree on which signatures are valid for them (Chalkias, Garillot,
 * Nikolaenko: eprint 2020/1244).
 */
export const ed25519: KeyType = {
  ...ROWS.ed25519,
  check(bytes) {
    const point = parse(checkLength(bytes, ed25519));
    if (point.isSmallOrder()) throw invalidKey("PUBLIC_KEY_SMALL_ORDER", "is a point of small order", bytes);
    if (!point.isTorsionFree())
      throw invalidKey("PUBLIC_KEY_NOT_PRIME_ORDER", "is not in the subgroup of prime order", bytes);
  },
};

/** Decodes a point (RFC 8032, section 5.1.3). */
function parse(bytes: Uint8Array) {
  try {
    return curve.Point.fromBytes(bytes);
  } catch {
    throw invalidKey("PUBLIC_KEY_NOT_ON_CURVE", "is not the canonical encoding of a point", bytes);
  }
}

/**
 * Verifies a signature of an Ed25519 key that `check` accepts (RFC 8032, section 5.1.7). S must be less than the order
 * of the group, and R must be canonical and must not have a component of small order.
 *
 * With these conditions, all implementations agree on whether a signature is valid. Without them, the owner of a key
 * could craft signatures that only some implementations accept, namely those of ZIP-215, which use the equation with
 * the cofactor.
 * @param signature 64 bytes: R ‖ S
 */
export function isEd25519Signature(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    return (
      curve.Point.fromBytes(signature.slice(0, 32)).isTorsionFree() &&
      curve.verify(signature, message, publicKey, { zip215: false })
    );
  } catch {
    return false;
  }
}

/** Generates a key pair for samples and tests. */
export function generate() {
  const { secretKey, publicKey } = curve.keygen();
  return { publicKey, privateKey: secretKey };
}
