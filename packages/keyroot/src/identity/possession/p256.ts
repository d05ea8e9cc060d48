import { p256 as curve } from "@noble/curves/nist.js";
import { p256 } from "../keyTypes/p256.ts";
import { signing } from "./signing.ts";

const SIGNATURE_BYTES = 64;

/**
 * The proof of possession of P-256 keys, which is an ECDSA signature of the transcript's SHA-256. WebCrypto writes a
 * signature as the 64 bytes of r and s. The Secure Enclave and the Android Keystore write it in DER, which takes 70 to
 * 72 bytes except for about one signature in millions. No platform restricts s to the lower half of the order, so both
 * halves are accepted.
 */
export const possession = signing(p256, (signature, message, publicKey) => {
  const format = signature.length === SIGNATURE_BYTES ? "compact" : "der";
  return curve.verify(signature, message, publicKey, { format, lowS: false });
});
