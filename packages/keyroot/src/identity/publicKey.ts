import type { AffinePoint } from "@noble/curves/abstract/curve.js";
import { edwards, type EdwardsPointCons } from "@noble/curves/abstract/edwards.js";
import { hexToBytes, randomBytes } from "@noble/hashes/utils.js";
import { describeValue } from "../input/describeValue.ts";
import { ArgumentError } from "../errors.ts";
import { bytesToHex, sha256Hex } from "../bytes/platform.ts";
import { bytesToBase64 } from "../bytes/base64.ts";

/** An uncompressed point of Curve41417: 0x04, X and Y (SEC 1, section 2.3.3). */
export const PUBLIC_KEY_BYTES = 105;
/** The first half of a SHA-256. */
export const KEY_ID_BYTES = 16;

const UNCOMPRESSED = 0x04;
const COORDINATE_BYTES = 52;

/** Curve41417: x² + y² = 1 + d·x²·y² modulo p = 2⁴¹⁴ − 17 (Bernstein, Chuengsatiansup, Lange: eprint 2014/526). */
const p = 2n ** 414n - 17n;
const d = 3617n;

let group: EdwardsPointCons | undefined;

/**
 * The curve's group, for generating and registering keys. Created on first use, which takes about 5 ms. Verifiers do not
 * use it, so bundlers leave it out (8 kB gzipped).
 */
function curve(): EdwardsPointCons {
  return (group ??= edwards({
    p,
    n: 2n ** 411n - 33364140863755142520810177694098385178984727200411208589594759n,
    h: 8n,
    a: 1n,
    d,
    Gx: 17319886477121189177719202498822615443556957307604340815256226171904769976866975908866528699294134494857887698432266169206165n,
    Gy: 34n,
  }));
}

/**
 * Checks a public key as every verifier does: length, format, coordinates below the field's prime, the curve equation, and
 * that the point is not of small order (8 times the point is not the identity).
 * @param bytes 105 bytes
 * @throws ArgumentError PUBLIC_KEY_LENGTH, PUBLIC_KEY_FORMAT, PUBLIC_KEY_NOT_ON_CURVE, PUBLIC_KEY_SMALL_ORDER
 */
export function checkPublicKey(bytes: Uint8Array): void {
  parsePoint(bytes);
}

/**
 * Checks a public key before registration: as `checkPublicKey`, and that the point is in the subgroup of prime order.
 * Takes about 2 ms.
 * @param bytes 105 bytes
 * @throws ArgumentError as `checkPublicKey`, and PUBLIC_KEY_NOT_PRIME_ORDER
 */
export function checkNewPublicKey(bytes: Uint8Array): void {
  if (!curve().fromAffine(parsePoint(bytes)).isTorsionFree()) {
    throw new ArgumentError("PUBLIC_KEY_NOT_PRIME_ORDER", "The public key is not in the subgroup of prime order.");
  }
}

/**
 * The id of a public key: the first 16 bytes of SHA-256 over its 105 bytes.
 * @throws ArgumentError PUBLIC_KEY_LENGTH
 */
export function keyIDOf(publicKey: Uint8Array): Uint8Array {
  checkLength(publicKey);
  return hexToBytes(sha256Hex(publicKey).slice(0, 2 * KEY_ID_BYTES));
}

/**
 * Generates a key pair: a random scalar below the curve's order, and its public key of 105 bytes. Meant for samples and
 * tests.
 * @example
 * const { publicKey } = generateKeyPair();
 */
export function generateKeyPair(): { privateKey: bigint; publicKey: Uint8Array } {
  const { n } = curve().CURVE();
  // 128 bits more than the order, so that the remainder is close to uniform (FIPS 186-5, appendix A.2.1).
  const privateKey = (BigInt(`0x${bytesToHex(randomBytes(COORDINATE_BYTES + 16))}`) % (n - 1n)) + 1n;
  const { x, y } = curve().BASE.multiply(privateKey).toAffine();
  return { privateKey, publicKey: encodePoint(x, y) };
}

function checkLength(bytes: Uint8Array): void {
  if (bytes instanceof Uint8Array && bytes.length === PUBLIC_KEY_BYTES) return;
  const message = `A public key must be ${PUBLIC_KEY_BYTES} bytes, but is ${describeValue(bytes)}.`;
  throw new ArgumentError("PUBLIC_KEY_LENGTH", message, { expected: PUBLIC_KEY_BYTES, actual: describeValue(bytes) });
}

function parsePoint(bytes: Uint8Array): AffinePoint<bigint> {
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
  // 2·(x, y) = (2xy / …, (y² − x²) / …). So x = 0 for the orders 1 and 2, y = 0 for the order 4, x = ±y for the order 8.
  if (x === 0n || y === 0n || x === y || x + y === p) {
    const message = `The public key ${bytesToBase64(bytes)} is a point of small order.`;
    throw new ArgumentError("PUBLIC_KEY_SMALL_ORDER", message, { actual: bytesToBase64(bytes) });
  }
  return { x, y };
}

/** A smaller number that is congruent modulo p, because 2⁴¹⁴ is congruent to 17. */
function reduce(n: bigint): bigint {
  return BigInt.asUintN(414, n) + 17n * (n >> 414n);
}

function encodePoint(x: bigint, y: bigint): Uint8Array {
  const [X, Y] = [x, y].map((coordinate) => coordinate.toString(16).padStart(2 * COORDINATE_BYTES, "0"));
  return Uint8Array.of(UNCOMPRESSED, ...hexToBytes(`${X}${Y}`));
}
