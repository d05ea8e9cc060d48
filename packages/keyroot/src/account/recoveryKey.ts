import { p256 } from "@noble/curves/nist.js";
import { ed25519, isEd25519Signature } from "../identity/keyTypes/ed25519.ts";

/** The kinds of signing keys: Ed25519 (RFC 8032), and ECDSA on P-256 with SHA-256 (FIPS 186-5). */
export type RecoveryKeyType = "ed25519" | "p256";

/** A key that signs the statements of an account. */
export interface RecoveryKey {
  type: RecoveryKeyType;
  /**
   * 32 bytes for `ed25519`, and the compressed point of 33 bytes for `p256` (SEC 1, section 2.3.3). `makeAccount` also
   * takes the 65 bytes that WebCrypto exports, and compresses them.
   */
  publicKey: Uint8Array;
}

/** The size of both kinds of signatures in bytes. */
const SIGNATURE_BYTES = 64;

/**
 * Checks whether a recovery key's public key is valid. An Ed25519 key must be the canonical encoding of a point of
 * prime order, because only then do all implementations accept the same signatures. A P-256 key must be a compressed
 * point of the curve.
 */
export function isRecoveryKey({ type, publicKey }: RecoveryKey): boolean {
  try {
    if (type === "p256") {
      if (publicKey.length !== 33) return false;
      p256.Point.fromBytes(publicKey).assertValidity();
      return true;
    }
    ed25519.check(publicKey);
    return true;
  } catch {
    return false;
  }
}

/** Copies a recovery key's public key. A P-256 point of 65 bytes, as WebCrypto exports it, is compressed. */
export function copyPublicKey({ type, publicKey }: RecoveryKey): Uint8Array {
  try {
    if (type === "p256" && publicKey.length === 65) return p256.Point.fromBytes(publicKey).toBytes();
  } catch {
    // `isRecoveryKey` rejects these bytes.
  }
  return new Uint8Array(publicKey);
}

/**
 * Verifies a signature of a recovery key. Ed25519 signatures must meet the conditions of `isEd25519Signature`. An ECDSA
 * signature must use the lower of its two possible values of S, because otherwise anyone could turn a valid signature
 * into a second one.
 * @param signature 64 bytes: R ‖ S for `ed25519`, r ‖ s for `p256`
 */
export function verifySignature({ type, publicKey }: RecoveryKey, message: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== SIGNATURE_BYTES) return false;
  if (type === "ed25519") return isEd25519Signature(signature, message, publicKey);
  try {
    return p256.verify(signature, message, publicKey, { lowS: true, prehash: true });
  } catch {
    return false;
  }
}

/**
 * Converts a signature to the form that statements contain. A P-256 signature may be r ‖ s (WebCrypto) or DER (Secure
 * Enclave, Android Keystore), with either of its two possible values of S.
 * @returns undefined if the bytes have another form
 */
export function normalizeSignature(type: RecoveryKeyType, signature: Uint8Array): Uint8Array | undefined {
  if (type === "ed25519") return signature.length === SIGNATURE_BYTES ? new Uint8Array(signature) : undefined;
  try {
    const { r, s } = p256.Signature.fromBytes(signature, signature.length === SIGNATURE_BYTES ? "compact" : "der");
    const { ORDER } = p256.Point.Fn;
    return new p256.Signature(r, s > ORDER / 2n ? ORDER - s : s).toBytes("compact");
  } catch {
    return undefined;
  }
}
