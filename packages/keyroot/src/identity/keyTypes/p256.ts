import { p256 as curve } from "@noble/curves/nist.js";
import { checkLength, invalidKey, type KeyType } from "./keyType.ts";
import { ROWS } from "./rows.ts";

const UNCOMPRESSED = 0x04;

/**
 * P-256 keys in the format "raw" of WebCrypto: uncompressed points, encoded as 0x04, X and Y (SEC 1, section 2.3.3).
 * The group has prime order, so every point of the curve is a valid key.
 */
export const p256: KeyType = {
  ...ROWS.p256,
  check(bytes) {
    if (checkLength(bytes, p256)[0] !== UNCOMPRESSED)
      throw invalidKey("PUBLIC_KEY_FORMAT", "must be 0x04 and two coordinates", bytes);
    try {
      curve.Point.fromBytes(bytes).assertValidity();
    } catch {
      throw invalidKey("PUBLIC_KEY_NOT_ON_CURVE", "is not a point of P-256", bytes);
    }
  },
};

/** Generates a key pair for samples and tests. */
export function generate() {
  const privateKey = curve.utils.randomSecretKey();
  return { publicKey: curve.getPublicKey(privateKey, false), privateKey };
}
