import { ed25519 as curve } from "@noble/curves/ed25519.js";
import { checkLength, invalidKey, type KeyType } from "./keyType.ts";

/**
 * Ed25519 keys (RFC 8032): the canonical encoding of a point of prime order, in 32 bytes. Other encodings and orders are
 * rejected, because implementations disagree about the signatures that they verify (Chalkias, Garillot, Nikolaenko:
 * eprint 2020/1244).
 */
export const ed25519: KeyType = {
  name: "ed25519",
  title: "Ed25519",
  length: 32,
  possession: "signature",
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
 * Verifies a signature of a key that `check` accepts (RFC 8032, section 5.1.7). S must be below the order, and R must be
 * canonical and without a part of small order. All implementations agree on these signatures, while the owner of a key can
 * craft others that only the equation with the cofactor accepts, as ZIP-215 requires it.
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
