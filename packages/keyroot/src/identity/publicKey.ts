import type { AffinePoint } from "@noble/curves/abstract/curve.js";
import { describeValue } from "../input/describeValue.ts";
import { ArgumentError } from "../errors.ts";
import { bytesToHex, hexToBytes } from "../bytes/hex.ts";
import { sha256Hex } from "../bytes/sha256.ts";
import { bytesToBase64 } from "../bytes/base64.ts";
import { isBytes } from "../input/isBytes.ts";

/**
 * The size of a public key in bytes. A key is an uncompressed point of Curve41417: 0x04, X and Y (SEC 1, section
 * 2.3.3).
 */
export const PUBLIC_KEY_BYTES = 105;
/** The size of a key id in bytes. A key id is the first half of a SHA-256 hash. */
export const KEY_ID_BYTES = 16;

export const UNCOMPRESSED = 0x04;
export const COORDINATE_BYTES = 52;

/**
 * The parameters of Curve41417: x² + y² = 1 + d·x²·y² modulo p = 2⁴¹⁴ − 17 (Bernstein, Chuengsatiansup, Lange: eprint
 * 2014/526).
 */
export const CURVE41417 = { p: 2n ** 414n - 17n, d: 3617n } as const;
const { p, d } = CURVE41417;

/**
 * Checks a public key: length, format, coordinates less than the field's prime, and the curve equation. The point must
 * not have a small order, so 8 times the point must not be the identity. All verifiers make the same checks.
 * @param bytes 105 bytes
 * @throws ArgumentError PUBLIC_KEY_LENGTH, PUBLIC_KEY_FORMAT, PUBLIC_KEY_NOT_ON_CURVE, PUBLIC_KEY_SMALL_ORDER
 * @example
 * checkPublicKey(publicKey); // throws if the key is invalid
 */
export function checkPublicKey(bytes: Uint8Array): void {
  parsePoint(bytes);
}

/**
 * Computes the id of a public key: the first 16 bytes of the key's SHA-256.
 * @throws ArgumentError PUBLIC_KEY_LENGTH
 * @example
 * const keyID = keyIDOf(publicKey); // 16 bytes
 */
export function keyIDOf(publicKey: Uint8Array): Uint8Array {
  checkLength(publicKey);
  return hexToBytes(sha256Hex(publicKey).slice(0, 2 * KEY_ID_BYTES));
}

function checkLength(bytes: Uint8Array): void {
  if (isBytes(bytes) && bytes.length === PUBLIC_KEY_BYTES) return;
  const message = `A public key must be ${PUBLIC_KEY_BYTES} bytes, but is ${describeValue(bytes)}.`;
  throw new ArgumentError("PUBLIC_KEY_LENGTH", message, { expected: PUBLIC_KEY_BYTES, actual: describeValue(bytes) });
}

/** Checks a public key as `checkPublicKey` does. @returns the coordinates of the point */
export function parsePoint(bytes: Uint8Array): AffinePoint<bigint> {
  checkLength(bytes);
  const hex = bytesToHex(bytes);
  const x = BigInt(`0x${hex.slice(2, 2 + 2 * COORDINATE_BYTES)}`);
  const y = BigInt(`0x${hex.slice(2 + 2 * COORDINATE_BYTES)}`);
  if (bytes[0] !== UNCOMPRESSED || x >= p || y >= p) {
    const message = `The public key ${bytesToBase64(bytes)} must be 0x04 and two coordinates below 2^414 - 17.`;
    throw new ArgumentError("PUBLIC_KEY_FORMAT", message, { actual: bytesToBase64(bytes) });
  }
  const [x2, y2] = [reduce(x * x), reduce(y * y)];
  if ((x2 + y2 - 1n - d * x2 * y2) % p !== 0n) {
    const message = `The public key ${bytesToBase64(bytes)} is not a point of Curve41417.`;
    throw new ArgumentError("PUBLIC_KEY_NOT_ON_CURVE", message, { actual: bytesToBase64(bytes) });
  }
  // A point of order 1 or 2 has x = 0. A point of order 4 has y = 0. A point of order 8 has x = ±y. These facts follow
  // from the doubling formula: 2·(x, y) = (2xy / …, (y² − x²) / …).
  if (x === 0n || y === 0n || x === y || x + y === p) {
    const message = `The public key ${bytesToBase64(bytes)} is a point of small order.`;
    throw new ArgumentError("PUBLIC_KEY_SMALL_ORDER", message, { actual: bytesToBase64(bytes) });
  }
  return { x, y };
}

/** Returns a smaller number that is equal modulo p. The function uses the fact that 2⁴¹⁴ equals 17 modulo p. */
function reduce(n: bigint): bigint {
  return BigInt.asUintN(414, n) + 17n * (n >> 414n);
}
