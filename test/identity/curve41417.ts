/**
 * Curve41417 by its textbook definition: the affine addition law of Edwards curves (Bernstein, Lange: eprint 2007/286),
 * slow and without a library, to hold the product's keys against.
 */
export interface Point {
  x: bigint;
  y: bigint;
}

export const P = 2n ** 414n - 17n;
const D = 3617n;
/** The order of the base point. */
export const N = 2n ** 411n - 33364140863755142520810177694098385178984727200411208589594759n;
export const BASE: Point = {
  x: 17319886477121189177719202498822615443556957307604340815256226171904769976866975908866528699294134494857887698432266169206165n,
  y: 34n,
};
export const IDENTITY: Point = { x: 0n, y: 1n };

function mod(a: bigint): bigint {
  return ((a % P) + P) % P;
}

export function isOnCurve({ x, y }: Point): boolean {
  return mod(x * x + y * y) === mod(1n + D * x * x * y * y);
}

export function add(a: Point, b: Point): Point {
  const product = D * a.x * b.x * a.y * b.y;
  return {
    x: mod((a.x * b.y + a.y * b.x) * invert(1n + product)),
    y: mod((a.y * b.y - a.x * b.x) * invert(1n - product)),
  };
}

export function multiply(factor: bigint, point: Point): Point {
  let sum = IDENTITY;
  for (const bit of factor.toString(2)) {
    sum = add(sum, sum);
    if (bit === "1") sum = add(sum, point);
  }
  return sum;
}

/** The eight points whose order divides 8: the identity, one of order 2, two of order 4, four of order 8. */
export function pointsOfSmallOrder(): Point[] {
  // Twice (x, ±x) is a point of order 4 where D·x⁴ − 2·x² + 1 = 0.
  const root = squareRoot(1n - D);
  const squares = [1n + root, 1n - root].map((numerator) => mod(numerator * invert(D)));
  const x = squareRoot(squares.find((square) => mod(squareRoot(square) ** 2n - square) === 0n) ?? 0n);
  const orderFour = [
    { x: 1n, y: 0n },
    { x: P - 1n, y: 0n },
  ];
  const orderEight = [x, P - x].flatMap((u) => [x, P - x].map((v) => ({ x: u, y: v })));
  return [IDENTITY, { x: 0n, y: P - 1n }, ...orderFour, ...orderEight];
}

/** 0x04, X and Y, 52 bytes each, big-endian. */
export function encode({ x, y }: Point): Uint8Array {
  const hex = [x, y].map((coordinate) => coordinate.toString(16).padStart(104, "0")).join("");
  return new Uint8Array(Buffer.from(`04${hex}`, "hex"));
}

export function decode(bytes: Uint8Array): Point {
  const hex = Buffer.from(bytes).toString("hex");
  return { x: BigInt(`0x${hex.slice(2, 106)}`), y: BigInt(`0x${hex.slice(106)}`) };
}

/** By Euclid. */
function invert(a: bigint): bigint {
  let [r, s, u, v] = [P, mod(a), 0n, 1n];
  while (s !== 0n) {
    const q = r / s;
    [r, s, u, v] = [s, r - q * s, v, u - q * v];
  }
  return mod(u);
}

/** A square root of a square: P leaves 3 when divided by 4. */
function squareRoot(a: bigint): bigint {
  let [result, base] = [1n, mod(a)];
  for (let exponent = (P + 1n) / 4n; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = mod(result * base);
    base = mod(base * base);
  }
  return result;
}
