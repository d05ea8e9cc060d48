import { hexToBytes } from "../bytes/hex.ts";
import { sha256Hex } from "../bytes/sha256.ts";
import { curve41417 } from "./keyTypes/curve41417.ts";
import { checkKeyType, checkLength, type KeyType } from "./keyTypes/keyType.ts";

/** The size of a key id in bytes. A key id is the first half of a SHA-256 hash. */
export const KEY_ID_BYTES = 16;

/**
 * Checks a public key as all verifiers do. A Curve41417 key must have the right length and format. Its coordinates must
 * be less than the field's prime and satisfy the curve equation, and 8 times the point must not be the identity.
 * @param keyType the type of the registry's keys. Default: `curve41417`
 * @throws ArgumentError PUBLIC_KEY_LENGTH, KEY_TYPE_MISMATCH, PUBLIC_KEY_FORMAT, PUBLIC_KEY_NOT_ON_CURVE,
 * PUBLIC_KEY_SMALL_ORDER, PUBLIC_KEY_NOT_PRIME_ORDER
 * @example
 * checkPublicKey(publicKey); // throws if the key is invalid
 */
export function checkPublicKey(bytes: Uint8Array, keyType: KeyType = curve41417): void {
  checkKeyType(keyType).check(bytes);
}

/**
 * Computes the id of a public key: the first 16 bytes of the key's SHA-256. The rule is the same for all key types.
 * @param keyType the type of the registry's keys. Default: `curve41417`
 * @throws ArgumentError PUBLIC_KEY_LENGTH, KEY_TYPE_MISMATCH
 * @example
 * const keyID = keyIDOf(publicKey); // 16 bytes
 */
export function keyIDOf(publicKey: Uint8Array, keyType: KeyType = curve41417): Uint8Array {
  checkLength(publicKey, checkKeyType(keyType));
  return hexToBytes(sha256Hex(publicKey).slice(0, 2 * KEY_ID_BYTES));
}
