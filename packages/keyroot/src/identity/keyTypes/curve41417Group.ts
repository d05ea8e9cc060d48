import { edwards, type EdwardsPoint, type EdwardsPointCons } from "@noble/curves/abstract/edwards.js";
import { randomBytes } from "../../bytes/randomBytes.ts";
import { ArgumentError } from "../../errors.ts";
import { bytesToHex, hexToBytes } from "../../bytes/hex.ts";
import { COORDINATE_BYTES, CURVE41417, parsePoint, UNCOMPRESSED } from "./curve41417.ts";

// This code has its own file, so that verifiers do not load the curve library, which they do not need. The library has
// 8 kB after gzip and takes 5 ms to load.

/** The order of the base point, a prime number (Bernstein, Chuengsatiansup, Lange: eprint 2014/526). */
export const ORDER = 2n ** 411n - 33364140863755142520810177694098385178984727200411208589594759n;

let group: EdwardsPointCons | undefined;

/** Returns the group of Curve41417's points. The first call creates the group in about 5 ms. */
export function curve(): EdwardsPointCons {
  return (group ??= edwards({
    ...CURVE41417,
    n: ORDER,
    h: 8n,
    a: 1n,
    Gx: 17319886477121189177719202498822615443556957307604340815256226171904769976866975908866528699294134494857887698432266169206165n,
    Gy: 34n,
  }));
}

/**
 * Decodes a point, and checks that it is on the curve and in the subgroup of prime order. The checks take about 2 ms.
 * @param bytes 105 bytes
 * @throws ArgumentError as `checkPublicKey`, and PUBLIC_KEY_NOT_PRIME_ORDER
 */
export function parsePrimeOrderPoint(bytes: Uint8Array): EdwardsPoint {
  const point = curve().fromAffine(parsePoint(bytes));
  if (point.isTorsionFree()) return point;
  throw new ArgumentError("PUBLIC_KEY_NOT_PRIME_ORDER", "The public key is not in the subgroup of prime order.");
}

/** Returns a random scalar that is at least 1 and less than the curve's order. */
export function randomScalar(): bigint {
  // The number has 128 bits more than the order, so the remainder is almost uniform (FIPS 186-5, appendix A.2.1).
  return (BigInt(`0x${bytesToHex(randomBytes(COORDINATE_BYTES + 16))}`) % (ORDER - 1n)) + 1n;
}

/** Encodes a point as 105 bytes: 0x04, X and Y (SEC 1, section 2.3.3). */
export function encodePoint(point: EdwardsPoint): Uint8Array {
  const { x, y } = point.toAffine();
  const [X, Y] = [x, y].map((coordinate) => coordinate.toString(16).padStart(2 * COORDINATE_BYTES, "0"));
  return Uint8Array.of(UNCOMPRESSED, ...hexToBytes(`${X}${Y}`));
}

/** A private key and the corresponding public key. */
export interface KeyPair {
  /** The private key: a scalar that is at least 1 and less than the curve's order. */
  privateKey: bigint;
  /** The public key, 105 bytes. */
  publicKey: Uint8Array;
}

/**
 * Generates a random key pair. Use it only for examples and tests.
 * @throws EnvironmentError ENVIRONMENT_UNSUPPORTED if there is no secure random source
 * @example
 * const { publicKey } = generateKeyPair();
 */
export function generateKeyPair(): KeyPair {
  const privateKey = randomScalar();
  return { privateKey, publicKey: encodePoint(curve().BASE.multiply(privateKey)) };
}
