import { edwards, type EdwardsPointCons } from "@noble/curves/abstract/edwards.js";
import { hexToBytes, randomBytes } from "@noble/hashes/utils.js";
import { ArgumentError } from "../errors.ts";
import { bytesToHex } from "../bytes/platform.ts";
import { COORDINATE_BYTES, CURVE41417, parsePoint, UNCOMPRESSED } from "./publicKey.ts";

// In a file of its own: verifiers do not need the curve's group, whose library takes 5 ms to load (8 kB gzipped).

let group: EdwardsPointCons | undefined;

/** The curve's group. Created on first use, which takes about 5 ms. */
function curve(): EdwardsPointCons {
  return (group ??= edwards({
    ...CURVE41417,
    n: 2n ** 411n - 33364140863755142520810177694098385178984727200411208589594759n,
    h: 8n,
    a: 1n,
    Gx: 17319886477121189177719202498822615443556957307604340815256226171904769976866975908866528699294134494857887698432266169206165n,
    Gy: 34n,
  }));
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
  if (!curve().fromAffine(parsePoint(bytes)).isTorsionFree()) {
    throw new ArgumentError("PUBLIC_KEY_NOT_PRIME_ORDER", "The public key is not in the subgroup of prime order.");
  }
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

function encodePoint(x: bigint, y: bigint): Uint8Array {
  const [X, Y] = [x, y].map((coordinate) => coordinate.toString(16).padStart(2 * COORDINATE_BYTES, "0"));
  return Uint8Array.of(UNCOMPRESSED, ...hexToBytes(`${X}${Y}`));
}
