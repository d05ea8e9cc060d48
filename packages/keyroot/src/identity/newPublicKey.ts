import { parsePrimeOrderPoint } from "./keyTypes/curve41417Group.ts";

export { generateKeyPair, type KeyPair } from "./keyTypes/curve41417Group.ts";

/**
 * Checks a Curve41417 key before its registration. The key must pass `checkPublicKey` and be in the subgroup of prime
 * order. The check takes about 2 ms.
 * @param bytes 105 bytes
 * @throws ArgumentError as `checkPublicKey`, and PUBLIC_KEY_NOT_PRIME_ORDER
 * @example
 * checkNewPublicKey(publicKey); // throws if the key must not be registered
 */
export function checkNewPublicKey(bytes: Uint8Array): void {
  parsePrimeOrderPoint(bytes);
}
