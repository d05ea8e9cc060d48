import type { AffinePoint } from "@noble/curves/abstract/curve.js";
import { bytesToHex } from "../../bytes/hex.ts";
import { checkLength, invalidKey, type KeyType } from "./keyType.ts";
import { ROWS } from "./rows.ts";

/**
 * The default key type, which the specification describes: uncompressed points of Curve41417, encoded as 0x04, X and Y
 * (SEC 1, section 2.3.3). A point must be on the curve and must not have a small order.
 */
export const curve41417: KeyType = {
  ...ROWS.curve41417,
  check: parsePoint,
};

export const UNCOMPRESSED = 0x04;
export const COORDINATE_BYTES = 52;

/**
 * The parameters of Curve41417: x² + y² = 1 + d·x²·y² modulo p = 2⁴¹⁴ − 17 (Bernstein, Chuengsatiansup, Lange: eprint
 * 2014/526).
 */
export const CURVE41417 = { p: 2n ** 414n - 17n, d: 3617n } as const;
const { p, d } = CURVE41417;

/** Checks a public key as `checkPublicKey` does. @returns the coordinates of the point */
export function parsePoint(bytes: Uint8Array): AffinePoint<bigint> {
  checkLength(bytes, ROWS.curve41417);
  const hex = bytesToHex(bytes);
  const x = BigInt(`0x${hex.slice(2, 2 + 2 * COORDINATE_BYTES)}`);
  const y = BigInt(`0x${hex.slice(2 + 2 * COORDINATE_BYTES)}`);
  if (bytes[0] !== UNCOMPRESSED || x >= p || y >= p)
    throw invalidKey("PUBLIC_KEY_FORMAT", "must be 0x04 and two coordinates below 2^414 - 17", bytes);
  const [x2, y2] = [reduce(x * x), reduce(y * y)];
  if ((x2 + y2 - 1n - d * x2 * y2) % p !== 0n)
    throw invalidKey("PUBLIC_KEY_NOT_ON_CURVE", "is not a point of Curve41417", bytes);
  // The doubling formula is 2·(x, y) = (2xy / …, (y² − x²) / …). Therefore, x is 0 for a point of order 1 or 2, y is 0
  // for a point of order 4, and x is ±y for a point of order 8.
  if (x === 0n || y === 0n || x === y || x + y === p)
    throw invalidKey("PUBLIC_KEY_SMALL_ORDER", "is a point of small order", bytes);
  return { x, y };
}

/** Returns a smaller number that is equal to n modulo p. No division is necessary, because 2⁴¹⁴ equals 17 modulo p. */
function reduce(n: bigint): bigint {
  return BigInt.asUintN(414, n) + 17n * (n >> 414n);
}
