import { p256 as p256Curve } from "@noble/curves/nist.js";
import { ed25519, isEd25519Signature } from "../keyTypes/ed25519.ts";
import type { KeyType } from "../keyTypes/keyType.ts";
import { p256 } from "../keyTypes/p256.ts";
import type { PossessionMethod } from "./method.ts";
import { possessionTranscript } from "./statement.ts";

/** Whether a signature of a message is valid. Throws for malformed signatures. */
type Verify = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array) => boolean;

const COMPACT_BYTES = 64;

/**
 * Makes the proof of possession of keys that sign: a signature of the transcript, which contains the service's nonce.
 */
function signing(keyType: KeyType, verify: Verify): PossessionMethod {
  return {
    makeChallenge({ publicKey }) {
      keyType.check(publicKey);
      return { ephemeralKey: new Uint8Array(), response: undefined };
    },
    isSignature(statement, signature) {
      const transcript = possessionTranscript(statement);
      try {
        return verify(signature, transcript, statement.publicKey);
      } catch {
        return false;
      }
    },
  };
}

/** The proof of possession of Ed25519 keys: a signature of the transcript (RFC 8032). */
export const ed25519Possession = signing(ed25519, isEd25519Signature);

/**
 * The proof of possession of P-256 keys, which is an ECDSA signature of the transcript's SHA-256. WebCrypto writes the
 * signature as the 64 bytes of r and s. The Secure Enclave and the Android Keystore write it in DER, which usually
 * takes 70 to 72 bytes. Only one DER signature in 10¹⁴ has 64 bytes, so the length shows the format. No platform
 * restricts s to the lower half of the order, so both halves are accepted.
 */
export const p256Possession = signing(p256, (signature, message, publicKey) => {
  const format = signature.length === COMPACT_BYTES ? "compact" : "der";
  return p256Curve.verify(signature, message, publicKey, { format, lowS: false });
});
