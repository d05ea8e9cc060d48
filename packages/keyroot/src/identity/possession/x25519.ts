import { x25519 as curve } from "@noble/curves/ed25519.js";
import { randomBytes } from "../../bytes/randomBytes.ts";
import { x25519 } from "../keyTypes/x25519.ts";
import type { PossessionMethod } from "./method.ts";
import { responseOf } from "./statement.ts";

/**
 * The proof of possession of X25519 keys. It uses Diffie-Hellman and a MAC, like the proof for Curve41417. The shared
 * secret (RFC 7748, section 6.1) is never zero, because keys of low order are rejected.
 */
export const possession: PossessionMethod = {
  makeChallenge(request, ephemeralPrivateKey = randomBytes(32)) {
    x25519.check(request.publicKey);
    const ephemeralKey = curve.getPublicKey(ephemeralPrivateKey);
    const secret = curve.getSharedSecret(ephemeralPrivateKey, request.publicKey);
    return { ephemeralKey, response: responseOf({ ...request, ephemeralKey }, secret) };
  },
};
