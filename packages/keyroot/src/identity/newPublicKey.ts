import { curve, encodePoint, parsePrimeOrderPoint, randomScalar } from "./group.ts";

/** A private key and the corresponding public key. */
export interface KeyPair {
  /** The private key: a scalar that is at least 1 and less than the curve's order. */
  privateKey: bigint;
  /** The public key, 105 bytes. */
  publicKey: Uint8Array;
}

/**
 * Checks a public key before registration. Makes the same checks as `checkPublicKey`, and requires that the key is in
 * the subgroup of prime order. Takes about 2 ms.
 * @param bytes 105 bytes
 * @throws ArgumentError as `checkPublicKey`, and PUBLIC_KEY_NOT_PRIME_ORDER
 * @example
 * checkNewPublicKey(publicKey); // throws if the key must not be registered
 */
export function checkNewPublicKey(bytes: Uint8Array): void {
  parsePrimeOrderPoint(bytes);
}

/**
 * Generates a random key pair. Use this function only for examples and tests.
 * @throws EnvironmentError ENVIRONMENT_UNSUPPORTED without a secure random source
 * @example
 * const { publicKey } = generateKeyPair();
 */
export function generateKeyPair(): KeyPair {
  const privateKey = randomScalar();
  return { privateKey, publicKey: encodePoint(curve().BASE.multiply(privateKey)) };
}
