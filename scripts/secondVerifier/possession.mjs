#!/usr/bin/env node
/**
 * A second implementation of proof of possession (docs/formats.md), which checks the test vectors:
 *
 *     node scripts/secondVerifier/possession.mjs test/vectors/possession/*.json
 *
 * It prints `agree` or `DISAGREE` for each vector, and exits with 1 if a result disagrees. It shares no code with the
 * library or with the script that made the vectors. Here, points have projective coordinates, and HKDF is computed as
 * two HMACs.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { accepts, answerOf, ephemeralFaultOf, labelOf } from "./possessionOfTypes.mjs";

const p = (1n << 414n) - 17n;
const n = (1n << 411n) - 33364140863755142520810177694098385178984727200411208589594759n;
const d = 3617n;
const LABEL = Buffer.from("keyroot-possession-v1", "ascii");
const DIGITS = "ybndrfg8ejkmcpqxot1uwisza345h769";

const mod = (a) => ((a % p) + p) % p;

/** Returns the inverse of a number, by Fermat's little theorem. */
function inverse(a) {
  let [result, base] = [1n, mod(a)];
  for (let e = p - 2n; e > 0n; e >>= 1n) {
    if (e & 1n) result = (result * base) % p;
    base = (base * base) % p;
  }
  return result;
}

/** Adds two points in projective coordinates on x² + y² = 1 + d·x²·y² (Bernstein, Lange 2007: add-2007-bl). */
function add([X1, Y1, Z1], [X2, Y2, Z2]) {
  const A = (Z1 * Z2) % p;
  const B = (A * A) % p;
  const C = (X1 * X2) % p;
  const D = (Y1 * Y2) % p;
  const E = (d * C * D) % p;
  const F = mod(B - E);
  const G = (B + E) % p;
  return [mod(A * F * ((X1 + Y1) * (X2 + Y2) - C - D)), mod(A * G * (D - C)), (F * G) % p];
}

const NEUTRAL = [0n, 1n, 1n];

/** Multiplies a point by k with Montgomery's ladder. */
function times(k, point) {
  let [low, high] = [NEUTRAL, point];
  for (let bit = BigInt(k.toString(2).length) - 1n; bit >= 0n; bit--) {
    if ((k >> bit) & 1n) [low, high] = [add(low, high), add(high, high)];
    else [low, high] = [add(low, low), add(low, high)];
  }
  return low;
}

const isNeutral = ([X, Y, Z]) => mod(X) === 0n && mod(Y - Z) === 0n;

/** Decodes a point of 105 bytes. Returns the point, or the code of the error. */
function readPoint(bytes) {
  if (bytes.length !== 105) return { code: "PUBLIC_KEY_LENGTH" };
  const [x, y] = [bytes.subarray(1, 53), bytes.subarray(53)].map((part) => BigInt(`0x${part.toString("hex")}`));
  if (bytes[0] !== 4 || x >= p || y >= p) return { code: "PUBLIC_KEY_FORMAT" };
  if (mod(x * x + y * y - 1n - d * x * x * y * y) !== 0n) return { code: "PUBLIC_KEY_NOT_ON_CURVE" };
  const point = [x, y, 1n];
  if (isNeutral(times(8n, point))) return { code: "PUBLIC_KEY_SMALL_ORDER" };
  if (!isNeutral(times(n, point))) return { code: "PUBLIC_KEY_NOT_PRIME_ORDER" };
  return { point };
}

function writePoint([X, Y, Z]) {
  const factor = inverse(Z);
  const hex = [X, Y].map((coordinate) =>
    mod(coordinate * factor)
      .toString(16)
      .padStart(104, "0"),
  );
  return Buffer.from(`04${hex.join("")}`, "hex");
}

function number(value, size) {
  const bytes = Buffer.alloc(size);
  if (size === 8) bytes.writeBigUInt64BE(BigInt(value));
  else bytes.writeUInt16BE(value);
  return bytes;
}

function transcriptOf({ keyType, service, chainId, contract, userID, publicKey, nonce, ephemeralKey, expires }) {
  const bits = Array.from(userID, (digit) => DIGITS.indexOf(digit).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from(publicKey, "base64");
  const name = Buffer.from(service, "utf8");
  return Buffer.concat([
    ...[keyType === undefined ? LABEL : labelOf(keyType), number(name.length, 2), name, number(chainId ?? 0, 8)],
    contract === null ? Buffer.alloc(20) : Buffer.from(contract.slice(2), "hex"),
    Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2))),
    ...[key, createHash("sha256").update(key).digest().subarray(0, 16)],
    ...[Buffer.from(nonce, "base64"), Buffer.from(ephemeralKey, "base64"), number(expires, 8)],
  ]);
}

const hmac = (key, ...parts) => parts.reduce((mac, part) => mac.update(part), createHmac("sha256", key)).digest();

/** Derives the key of a proof. @param sharedPoint 105 bytes */
function responseOf(statement, sharedPoint) {
  // HKDF (RFC 5869) with one block of output.
  const pseudorandom = hmac(Buffer.from(statement.nonce, "base64"), sharedPoint);
  return hmac(hmac(pseudorandom, LABEL, Buffer.of(1)), transcriptOf(statement));
}

/** The verdict about a key of another type than Curve41417. */
function verdictOfType({ kind, statement, privateKey, ephemeralPrivateKey, response }) {
  if (kind !== "answer" && kind !== "check") throw new Error(`Unknown kind of vector: ${kind}.`);
  const code = ephemeralFaultOf(statement);
  if (code !== undefined) return kind === "answer" ? { code } : { accepted: false };
  const transcript = transcriptOf(statement);
  if (kind === "answer") return answerOf(statement, privateKey, transcript);
  return { accepted: accepts(statement, transcript, Buffer.from(response, "base64"), ephemeralPrivateKey) };
}

function verdictOf(vector) {
  const { kind, statement, privateKey, ephemeralPrivateKey, response } = vector;
  if (statement.keyType !== undefined) return verdictOfType(vector);
  if (kind === "answer") {
    const { point, code } = readPoint(Buffer.from(statement.ephemeralKey, "base64"));
    if (code !== undefined) return { code };
    const shared = writePoint(times(BigInt(privateKey), point));
    const transcript = transcriptOf(statement).toString("hex");
    const answer = responseOf(statement, shared).toString("base64");
    return { transcript, sharedPoint: shared.toString("base64"), response: answer };
  }
  if (kind !== "check") throw new Error(`Unknown kind of vector: ${kind}.`);
  const { point, code } = readPoint(Buffer.from(statement.publicKey, "base64"));
  if (code !== undefined) return { accepted: false };
  const expected = responseOf(statement, writePoint(times(BigInt(ephemeralPrivateKey), point)));
  const given = Buffer.from(response, "base64");
  return { accepted: given.length === expected.length && timingSafeEqual(given, expected) };
}

let checked = 0;
for (const path of process.argv.slice(2)) {
  const { format, kind, vectors } = JSON.parse(readFileSync(path === "-" ? 0 : path, "utf8"));
  if (format !== "keyroot-vectors-v1" || kind !== "possession") throw new Error(`${path}: unknown format or kind.`);
  for (const { verdict, ...vector } of vectors) {
    const agrees = JSON.stringify(verdictOf(vector)) === JSON.stringify(verdict);
    if (!agrees) process.exitCode = 1;
    process.stdout.write(`${agrees ? "agree" : "DISAGREE"} ${vector.name}\n`);
    checked++;
  }
}
if (checked === 0) {
  process.stderr.write("Give at least one file with vectors.\n");
  process.exitCode = 1;
}
