// The checks of public keys in the second verifier, for each key type of docs/formats.md. They share no code with the
// library: the arithmetic is written out here, and X25519 comes from Node.
import { createPrivateKey, createPublicKey, diffieHellman } from "node:crypto";

const little = (bytes) => BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`);
const big = (bytes) => BigInt(`0x${bytes.toString("hex")}`);
const mod = (value, p) => ((value % p) + p) % p;

function power(base, exponent, p) {
  let result = 1n;
  for (let b = mod(base, p), e = exponent; e > 0n; e >>= 1n) {
    if (e & 1n) result = (result * b) % p;
    b = (b * b) % p;
  }
  return result;
}

// ---- Curve41417: points of x² + y² = 1 + 3617·x²·y² modulo p ----

function faultOfCurve41417(publicKey) {
  const p = 2n ** 414n - 17n;
  const [x, y] = [big(publicKey.subarray(1, 53)), big(publicKey.subarray(53))];
  if (publicKey[0] !== 4 || x >= p || y >= p) return "PUBLIC_KEY_FORMAT";
  const [xx, yy] = [(x * x) % p, (y * y) % p];
  if ((xx + yy - 1n - 3617n * xx * yy) % p !== 0n) return "PUBLIC_KEY_NOT_ON_CURVE";
  // The double of a point has the coordinates 2xy/(x² + y²) and (y² - x²)/(2 - x² - y²). The points with a coordinate
  // of 0 have the orders 1, 2 and 4. Therefore the order of a point divides 8 if the point or its double has such a
  // coordinate.
  if (x === 0n || y === 0n || xx === yy) return "PUBLIC_KEY_SMALL_ORDER";
  return undefined;
}

// ---- X25519: with a point of low order, any private key gives the shared secret zero, which OpenSSL rejects ----

const P25519 = 2n ** 255n - 19n;
const X25519_KEY = createPrivateKey({
  key: Buffer.concat([Buffer.from("302e020100300506032b656e04220420", "hex"), Buffer.alloc(32, 7)]),
  format: "der",
  type: "pkcs8",
});

function faultOfX25519(publicKey) {
  if (little(publicKey) >= P25519) return "PUBLIC_KEY_FORMAT";
  const key = { kty: "OKP", crv: "X25519", x: publicKey.toString("base64url") };
  try {
    diffieHellman({ privateKey: X25519_KEY, publicKey: createPublicKey({ key, format: "jwk" }) });
    return undefined;
  } catch {
    return "PUBLIC_KEY_SMALL_ORDER";
  }
}

// ---- Ed25519: points of -x² + y² = 1 + d·x²·y² ----

const D = mod(-121665n * power(121666n, P25519 - 2n, P25519), P25519);
const L = 2n ** 252n + 27742317777372353535851937790883648493n;

function faultOfEd25519(publicKey) {
  const encoded = little(publicKey);
  const sign = encoded >> 255n;
  const y = encoded & (2n ** 255n - 1n);
  if (y >= P25519) return "PUBLIC_KEY_NOT_ON_CURVE";
  const xx = mod((y * y - 1n) * power(D * y * y + 1n, P25519 - 2n, P25519), P25519);
  // A square root modulo a prime that is 5 modulo 8 (RFC 8032, section 5.1.3).
  let x = power(xx, (P25519 + 3n) / 8n, P25519);
  if (mod(x * x - xx, P25519) !== 0n) x = (x * power(2n, (P25519 - 1n) / 4n, P25519)) % P25519;
  if (mod(x * x - xx, P25519) !== 0n || (x === 0n && sign === 1n)) return "PUBLIC_KEY_NOT_ON_CURVE";
  if ((x & 1n) !== sign) x = P25519 - x;
  const point = [x, y, 1n];
  if (isNeutral(times(8n, point))) return "PUBLIC_KEY_SMALL_ORDER";
  if (!isNeutral(times(L, point))) return "PUBLIC_KEY_NOT_PRIME_ORDER";
  return undefined;
}

/** Adds projective points with the complete formulas for a = -1 (Bernstein et al., eprint 2008/013, section 6). */
function add([X1, Y1, Z1], [X2, Y2, Z2]) {
  const p = P25519;
  const A = (Z1 * Z2) % p;
  const B = (A * A) % p;
  const [C, E] = [(X1 * X2) % p, (Y1 * Y2) % p];
  const F = mod(D * ((C * E) % p), p);
  const [G, H] = [mod(B - F, p), (B + F) % p];
  const cross = mod((X1 + Y1) * (X2 + Y2) - C - E, p);
  return [(((A * G) % p) * cross) % p, (((A * H) % p) * ((E + C) % p)) % p, (G * H) % p];
}

function times(k, point) {
  let sum = [0n, 1n, 1n];
  for (const bit of k.toString(2)) {
    sum = add(sum, sum);
    if (bit === "1") sum = add(sum, point);
  }
  return sum;
}

const isNeutral = ([X, Y, Z]) => X === 0n && Y === Z;

// ---- P-256: points of y² = x³ - 3x + b ----

function faultOfP256(publicKey) {
  const p = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
  const b = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;
  const [x, y] = [big(publicKey.subarray(1, 33)), big(publicKey.subarray(33))];
  if (publicKey[0] !== 4) return "PUBLIC_KEY_FORMAT";
  if (x >= p || y >= p || mod(y * y - x * x * x + 3n * x - b, p) !== 0n) return "PUBLIC_KEY_NOT_ON_CURVE";
  return undefined;
}

/**
 * For each key type, the length of its keys in bytes, and a function that returns the error code of a key of this
 * length.
 */
export const KEY_TYPES = {
  curve41417: { length: 105, faultOf: faultOfCurve41417 },
  x25519: { length: 32, faultOf: faultOfX25519 },
  ed25519: { length: 32, faultOf: faultOfEd25519 },
  p256: { length: 65, faultOf: faultOfP256 },
  document: { length: 32, faultOf: () => undefined },
};

/** Returns the error code for a key whose length is not the type's, or undefined. */
export function lengthFaultOf(keyType, publicKey) {
  if (publicKey.length === KEY_TYPES[keyType].length) return undefined;
  const isOther = Object.values(KEY_TYPES).some(({ length }) => length === publicKey.length);
  return isOther ? "KEY_TYPE_MISMATCH" : "PUBLIC_KEY_LENGTH";
}
