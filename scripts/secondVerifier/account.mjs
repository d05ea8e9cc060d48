#!/usr/bin/env node
/**
 * A second implementation of account files (docs/formats.md, "Account"), which checks the test vectors:
 *
 *     node scripts/secondVerifier/account.mjs test/vectors/accounts/*.json
 *
 * It prints `agree` or `DISAGREE` for each vector, and exits with 1 if a result disagrees. It shares no code with the
 * library: OpenSSL verifies the signatures, and this file checks points with arithmetic on plain numbers.
 */
import { createHash, createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";

const DIGITS = "ybndrfg8ejkmcpqxot1uwisza345h769";
const MAX_BYTES = 32_768;
const MAX_KEYS = 16;
const MAX_STATEMENTS = 16;
const MAX_SIGNATURES = 32;
const MAX_NUMBER = 4_294_967_294;
const SPKI = {
  ed25519: "302a300506032b6570032100",
  p256: "3039301306072a8648ce3d020106082a8648ce3d030107032200",
};

export class AccountRejection extends Error {
  constructor(code) {
    super(code);
    this.verdict = { step: "file", code };
  }
}

function check(condition, code) {
  if (!condition) throw new AccountRejection(code);
}

/** Computes base ** exponent modulo m. */
function power(base, exponent, m) {
  let result = 1n;
  for (let b = ((base % m) + m) % m, e = exponent; e > 0n; e >>= 1n, b = (b * b) % m)
    if (e & 1n) result = (result * b) % m;
  return result;
}

const ED = {
  p: 2n ** 255n - 19n,
  order: 2n ** 252n + 27742317777372353535851937790883648493n,
};
ED.d = ((ED.p - 121665n) * power(121666n, ED.p - 2n, ED.p)) % ED.p;

/** Adds two points in projective coordinates on −x² + y² = 1 + d·x²·y². */
function add([X1, Y1, Z1], [X2, Y2, Z2]) {
  const { p, d } = ED;
  const A = (Z1 * Z2) % p;
  const B = (A * A) % p;
  const C = (X1 * X2) % p;
  const D = (Y1 * Y2) % p;
  const E = (d * C * D) % p;
  const F = (B - E + p) % p;
  const G = (B + E) % p;
  const X3 = (A * F * (((X1 + Y1) * (X2 + Y2) - C - D) % p)) % p;
  return [(X3 + p) % p, (A * G * (D + C)) % p, (F * G) % p];
}

/** Checks that 32 bytes are the canonical encoding of a point of prime order (RFC 8032, section 5.1.3). */
function isEd25519Key(bytes) {
  const { p, d, order } = ED;
  if (bytes.length !== 32) return false;
  const encoded = BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`);
  const [y, sign] = [encoded & (2n ** 255n - 1n), encoded >> 255n];
  if (y >= p) return false;
  const x2 = ((y * y - 1n + p) * power(d * y * y + 1n, p - 2n, p)) % p;
  let x = power(x2, (p + 3n) / 8n, p);
  if ((x * x) % p !== x2) x = (x * power(2n, (p - 1n) / 4n, p)) % p;
  if ((x * x) % p !== x2 || (x === 0n && sign === 1n)) return false;
  if ((x & 1n) !== sign) x = p - x;
  let [result, base] = [
    [0n, 1n, 1n],
    [x, y, 1n],
  ];
  for (let e = order; e > 0n; e >>= 1n, base = add(base, base)) if (e & 1n) result = add(result, base);
  const isIdentity = result[0] === 0n && result[1] === result[2];
  return isIdentity && !(x === 0n && y === 1n);
}

const P256 = {
  p: 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn,
  b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
  order: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
};

/** Checks that 33 bytes are a compressed point of P-256 (SEC 1, section 2.3.4). */
function isP256Key(bytes) {
  const { p, b } = P256;
  if (bytes.length !== 33 || (bytes[0] !== 2 && bytes[0] !== 3)) return false;
  const x = BigInt(`0x${Buffer.from(bytes.subarray(1)).toString("hex")}`);
  const y2 = (((x * x * x - 3n * x + b) % p) + p) % p;
  return x < p && power(y2, (p - 1n) / 2n, p) === 1n;
}

function isSignature({ type, bytes }, text, signature) {
  if (type === "p256") {
    const s = BigInt(`0x${Buffer.from(signature.subarray(32)).toString("hex")}`);
    if (s > P256.order / 2n) return false;
  }
  try {
    const der = Buffer.concat([Buffer.from(SPKI[type], "hex"), bytes]);
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    return type === "ed25519"
      ? verify(null, Buffer.from(text), key, signature)
      : verify("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }, signature);
  } catch {
    return false;
  }
}

function fromBase64(text) {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : undefined;
}

/** Returns the user id that is the first 160 bits of a hash. */
function idOf(...parts) {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  const bits = [...hash.digest().subarray(0, 20)].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return bits.replace(/.{5}/g, (five) => DIGITS[parseInt(five, 2)]);
}

function slotID(text, number) {
  if (number === 0) return idOf(text);
  return idOf("keyroot/slot-v1\n", text, Buffer.from(number.toString(16).padStart(8, "0"), "hex"));
}

/** Reads the lines of an account text. */
function readAccount(text) {
  const invalid = "ACCOUNT_INVALID";
  const lines = text.split("\n");
  check(lines.pop() === "" && lines.shift() === "keyroot/account-v1", invalid);
  const [, chain] = /^chain ([1-9]\d{0,15})$/.exec(lines.shift() ?? "") ?? [];
  const [, contract] = /^contract (0x[\da-f]{40})$/.exec(lines.shift() ?? "") ?? [];
  const [, salt] = /^salt ([\da-f]{32})$/.exec(lines.pop() ?? "") ?? [];
  const [, threshold] = /^threshold ([1-9]\d?)$/.exec(lines.pop() ?? "") ?? [];
  check(chain && Number(chain) < 2 ** 53 && contract && salt && threshold, invalid);
  check(lines.length > 0 && lines.length <= MAX_KEYS && new Set(lines).size === lines.length, invalid);
  const keys = lines.map((line) => {
    const [, type, encoded] = /^key (ed25519|p256) ([A-Za-z\d+/]+=?)$/.exec(line) ?? [];
    const bytes = encoded && fromBase64(encoded);
    check(bytes && (type === "p256" ? isP256Key(bytes) : isEd25519Key(bytes)), invalid);
    return { type, bytes };
  });
  check(Number(threshold) <= keys.length, invalid);
  return { text, userID: idOf(text), chainId: Number(chain), contract, keys, threshold: Number(threshold) };
}

function readStatement(text, signatureLines) {
  const invalid = "KEY_STATEMENT_INVALID";
  const [origin, account, number, last, ...others] = text.split("\n");
  check(origin === "keyroot/key-v1" && others.length === 1 && others[0] === "", invalid);
  const [, userID] = new RegExp(`^account ([${DIGITS}]{32})$`).exec(account) ?? [];
  const [, digits] = /^number (0|[1-9]\d{0,9})$/.exec(number) ?? [];
  check(userID && digits && Number(digits) <= MAX_NUMBER, invalid);
  const [, key] = /^key (.+)$/.exec(last) ?? [];
  const bytes = key && fromBase64(key);
  if (key === undefined) check(last === "void" && digits !== "0", invalid);
  else check(bytes && bytes.length >= 32 && bytes.length <= 105, invalid);
  const signatures = signatureLines.split("\n").map((line) => {
    const [, keyNumber, encoded] = /^— ([1-9]\d?) (\S+)$/.exec(line) ?? [];
    const signature = encoded && fromBase64(encoded);
    check(signature?.length === 64, invalid);
    return { keyNumber: Number(keyNumber), signature };
  });
  return { text, userID, number: Number(digits), key, signatures };
}

/** Verifies an account file. @throws AccountRejection */
export function verifyAccountFile(bytes, question) {
  check(bytes.length <= MAX_BYTES, "FILE_TOO_LARGE");
  const text = bytes.toString();
  check(Buffer.from(text).equals(bytes), "FILE_NOT_UTF8");
  const body = text.endsWith("\n") ? text.slice(0, -1) : text;
  const [head, ...parts] = body.split("\n\n");
  const account = readAccount(`${head}\n`);
  check(text.endsWith("\n") && parts.length % 2 === 0, "ACCOUNT_INVALID");
  const statements = [];
  for (let i = 0; i < parts.length; i += 2) statements.push(readStatement(`${parts[i]}\n`, parts[i + 1]));
  const invalid = "KEY_STATEMENT_INVALID";
  const most = Math.min(MAX_STATEMENTS, Math.floor(MAX_SIGNATURES / account.threshold));
  check(statements.length > 0 && statements.length <= most && statements[0].key !== undefined, invalid);
  const [{ number, key: publicKey }] = statements;
  for (const [i, statement] of statements.entries())
    check(statement.number === number + i && (i === 0 || statement.key === undefined), invalid);
  const isPlace = account.chainId === question.chainId && account.contract === question.contract.toLowerCase();
  check(account.userID === question.userID && isPlace, "ACCOUNT_MISMATCH");
  for (const { text: signed, userID, signatures } of statements) {
    check(userID === account.userID && signatures.length === account.threshold, invalid);
    for (const [i, { keyNumber, signature }] of signatures.entries()) {
      const key = account.keys[keyNumber - 1];
      check(key && (i === 0 || keyNumber > signatures[i - 1].keyNumber), invalid);
      check(isSignature(key, signed, signature), invalid);
    }
  }
  const nextNumber = number + statements.length;
  return {
    number,
    slotID: slotID(account.text, number),
    publicKey,
    nextNumber,
    nextSlotID: slotID(account.text, nextNumber),
  };
}

/** Verifies an objection of one recovery key of the account with this text. */
function verifyObjection(bytes, { account: accountText }) {
  const invalid = "KEY_STATEMENT_INVALID";
  const text = bytes.toString();
  const account = readAccount(accountText);
  const end = text.indexOf("\n\n");
  const signed = text.slice(0, end + 1);
  check(end !== -1 && text.endsWith("\n") && signed.startsWith("keyroot/objection-v1\n"), invalid);
  const statement = signed.replace("keyroot/objection-v1", "keyroot/key-v1");
  const { userID, number, key: publicKey, signatures } = readStatement(statement, text.slice(end + 2, -1));
  const [{ keyNumber, signature }] = signatures;
  const key = account.keys[keyNumber - 1];
  check(userID === account.userID && signatures.length === 1 && key !== undefined, invalid);
  check(isSignature(key, signed, signature), invalid);
  return publicKey === undefined ? { account: userID, number } : { account: userID, number, publicKey };
}

const VERIFIERS = { "account-file": verifyAccountFile, objection: verifyObjection };

function verdictOf(kind, { question, input }) {
  try {
    const bytes = "text" in input ? Buffer.from(input.text) : Buffer.from(input.base64, "base64");
    return { verified: VERIFIERS[kind](bytes, question) };
  } catch (error) {
    if (error instanceof AccountRejection) return error.verdict;
    throw error;
  }
}

function run(paths) {
  let agree = paths.length > 0;
  for (const path of paths) {
    const { format, kind, vectors } = JSON.parse(readFileSync(path, "utf8"));
    if (format !== "keyroot-vectors-v1" || !Object.hasOwn(VERIFIERS, kind))
      throw new Error(`${path} has another format.`);
    for (const vector of vectors) {
      const actual = verdictOf(kind, vector);
      const isEqual = isDeepStrictEqual(actual, vector.verdict);
      agree &&= isEqual;
      const line = isEqual ? `agree     ${vector.name}` : `DISAGREE  ${vector.name}: ${JSON.stringify(actual)}`;
      process.stdout.write(`${line}\n`);
    }
  }
  process.exitCode = agree ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) run(process.argv.slice(2));
