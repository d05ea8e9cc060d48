import { curve, encodePoint, parsePrimeOrderPoint, randomScalar } from "./group.ts";

/** A private key and its public key. */
export interface KeyPair {
  /** A scalar from 1 to the curve's order less 1. */
  privateKey: bigint;
  /** 105 bytes. */
  publicKey: Uint8Array;
}

/**
 * Checks a public key before registration: as `checkPublicKey`, and that the point is in the subgroup of prime order.
 * Takes about 2 ms.
 * @param bytes 105 bytes
 * @throws ArgumentError as `checkPublicKey`, and PUBLIC_KEY_NOT_PRIME_ORDER
 * @example
 * checkNewPublicKey(publicKey); // throws if the key must not be registered
 */
export function checkNewPublicKey(bytes: Uint8Array): void {
  parsePrimeOrderPoint(bytes);
}

/**
 * Generates a key pair: a random scalar below the curve's order, and its public key of 105 bytes. Meant for samples and
 * tests.
 * @throws EnvironmentError ENVIRONMENT_UNSUPPORTED without a secure random source
 * @example
 * const { publicKey } = generateKeyPair();
 */
export function generateKeyPair(): KeyPair {
  const privateKey = randomScalar();
  return { privateKey, publicKey: encodePoint(curve().BASE.multiply(privateKey)) };
}
