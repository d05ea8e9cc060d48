import { ArgumentError } from "../../errors.ts";
import { bytesToHex } from "../../bytes/hex.ts";
import { checkObject } from "../../input/options.ts";
import { curve, encodePoint, ORDER, parsePrimeOrderPoint, randomScalar } from "../keyTypes/curve41417Group.ts";
import type { KeyPair } from "../newPublicKey.ts";
import { foreignPrivateKey, type PossessionMethod } from "./method.ts";
import { type ChallengeRequest, type PossessionStatement, responseOf } from "./statement.ts";

/**
 * Proves that a user has the private key of a Curve41417 key. Such a key cannot sign, so the proof uses Diffie-Hellman
 * and a MAC, as in RFC 6955 (docs/formats.md).
 *
 * The service generates an ephemeral key pair for each challenge. The app and the service then compute the same shared
 * point, each from its own private key and the other's public key. The response is a MAC whose key is derived from the
 * shared point. It reveals nothing about this point.
 */

/**
 * Computes the response to a challenge with the private key. The service's ephemeral key is checked first. With a point
 * of small or mixed order, the response would reveal information about the private key.
 * @returns the response, 32 bytes
 * @throws ArgumentError as `checkPublicKey`, and PUBLIC_KEY_NOT_PRIME_ORDER, for the ephemeral key; ARGUMENT_INVALID
 * @example
 * const { publicKey, privateKey } = generateKeyPair();
 * // The nonce, the ephemeral key and the time of expiry are the service's challenge.
 * const response = provePossession({ service, registry, userID, publicKey, nonce, ephemeralKey, expires }, privateKey);
 */
export function provePossession(statement: PossessionStatement, privateKey: bigint): Uint8Array {
  const ephemeral = parsePrimeOrderPoint(checkObject("The statement", statement).ephemeralKey);
  return responseOf(statement, encodePoint(ephemeral.multiply(checkPrivateKey(privateKey))));
}

/**
 * Makes a challenge for a user's new public key. The key is checked first, as in `checkNewPublicKey`. The expected
 * response is computed immediately, so the service does not have to keep the ephemeral private key. All this takes
 * about 7 ms.
 * @returns the ephemeral key, 105 bytes, and the only valid response, 32 bytes
 * @throws ArgumentError as `checkNewPublicKey` and `possessionTranscript`
 */
export function makeChallenge(
  request: ChallengeRequest,
  ephemeralPrivateKey: bigint = randomScalar(),
): { ephemeralKey: Uint8Array; response: Uint8Array } {
  const point = parsePrimeOrderPoint(checkObject("The request", request).publicKey);
  const ephemeralKey = encodePoint(curve().BASE.multiply(checkPrivateKey(ephemeralPrivateKey)));
  const sharedPoint = encodePoint(point.multiply(ephemeralPrivateKey));
  return { ephemeralKey, response: responseOf({ ...request, ephemeralKey }, sharedPoint) };
}

/**
 * Checks that a private key belongs to a public key.
 * @throws ArgumentError ARGUMENT_INVALID. The message does not contain the private key.
 */
export function checkKeyPair({ privateKey, publicKey }: KeyPair): void {
  const own = encodePoint(curve().BASE.multiply(checkPrivateKey(privateKey)));
  if (bytesToHex(own) === bytesToHex(publicKey)) return;
  throw foreignPrivateKey();
}

function checkPrivateKey(privateKey: unknown): bigint {
  if (typeof privateKey === "bigint" && privateKey > 0n && privateKey < ORDER) return privateKey;
  const message = "The private key must be a bigint from 1 to the curve's order minus 1.";
  throw new ArgumentError("ARGUMENT_INVALID", message);
}

/** The proof of possession of Curve41417 keys. */
export const possession: PossessionMethod = { makeChallenge: (request) => makeChallenge(request) };
