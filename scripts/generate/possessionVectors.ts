/**
 * Writes test/vectors/possession/key-types.json: proofs of possession of X25519, Ed25519 and P-256 keys. With --check,
 * the file is only compared.
 */
import { createHash } from "node:crypto";
import { ed25519 as curve, ED25519_TORSION_SUBGROUP } from "@noble/curves/ed25519.js";
import { privateKeyOf, publicKeyOf } from "../../test/support/data/keysOfTypes.ts";
import {
  type Proving,
  PROVING,
  responseOf,
  secretOf,
  sharedSecretOf,
  type StatementJson,
  statementJson,
  transcriptOf,
} from "../../test/support/data/possessionOfTypes.ts";
import { writeOrCheck } from "./writeOrCheck.ts";

/** The orders of the base points of Ed25519 and P-256. */
const ORDERS = {
  ed25519: 2n ** 252n + 27742317777372353535851937790883648493n,
  p256: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
};
/** The fields of the statement that a hostile service or another user could change. */
const CHANGES: readonly (readonly [string, Partial<StatementJson>])[] = [
  ["another service", { service: "https://keys.example.org" }],
  ["a longer service", { service: "https://keys.example.com/a" }],
  ["another chain", { chainId: 5 }],
  ["no registry", { chainId: null, contract: null }],
  ["another contract", { contract: `0x${"11".repeat(20)}` }],
  ["another user", { userID: "y".repeat(32) }],
  ["another nonce", { nonce: publicKeyOf("document", 70).toString("base64") }],
  ["another expiry", { expires: 1_800_000_300_001 }],
];

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
const unsigned = (value: bigint) => Buffer.from(value.toString(16).padStart(64, "0"), "hex");
const big = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
const reversed = (bytes: Uint8Array) => Buffer.from(bytes).reverse();

/** The key with which a service can check the response. Keys that sign need none. */
const ephemeral = (type: Proving) =>
  type === "x25519" ? { ephemeralPrivateKey: base64(secretOf(privateKeyOf("x25519", 90))) } : {};

const check = (name: string, about: string, statement: StatementJson, response: Uint8Array, accepted: boolean) => ({
  ...{ name: `${statement.keyType}-${name}`, about, kind: "check", statement, ...ephemeral(statement.keyType) },
  ...{ response: base64(response), verdict: { accepted } },
});

/** The computation of a response. Signatures of P-256 are random, so their vectors have only the transcript. */
function answer(type: Proving, number: number, changes: Partial<StatementJson> = {}) {
  const statement = statementJson(type, number, changes);
  const key = privateKeyOf(type, number);
  return {
    ...{ name: `${type}-answer-${number}`, about: "The response to a challenge.", kind: "answer", statement },
    privateKey: base64(secretOf(key)),
    verdict: {
      transcript: transcriptOf(statement).toString("hex"),
      ...(type === "x25519" && { sharedSecret: base64(sharedSecretOf(key, statement.ephemeralKey)) }),
      ...(type !== "p256" && { response: base64(responseOf(statement, number)) }),
    },
  };
}

function ofType(type: Proving) {
  const statement = statementJson(type, 1);
  const response = responseOf(statement, 1);
  const flipped = Buffer.from(response);
  flipped[5] = (flipped[5] ?? 0) ^ 1;
  const refused: (readonly [string, Uint8Array])[] = [
    ["the response of another key", responseOf(statement, 2)],
    ["a flipped bit", flipped],
    ["a byte less", response.subarray(1)],
    ["a byte more", Buffer.concat([response, Buffer.of(0)])],
    ["no bytes", Buffer.alloc(0)],
    ["zeros", Buffer.alloc(response.length)],
    ["ones", Buffer.alloc(response.length, 255)],
    ["the label of Curve41417", responseOf(statement, 1, "keyroot-possession-v1")],
    [
      "the label of another type",
      responseOf(statement, 1, `keyroot-possession-${type === "p256" ? "x25519" : "p256"}-v1`),
    ],
  ];
  return [
    answer(type, 1),
    answer(type, 2, { chainId: null, contract: null }),
    answer(type, 3, { service: "https://schlüssel.example/a" }),
    check("accepted", "The response of the key.", statement, response, true),
    ...refused.map(([about, bytes], i) => check(`refused-${i}`, about, statement, bytes, false)),
    ...CHANGES.map(([about, change], i) =>
      check(
        `changed-${i}`,
        `The response to a statement with ${about}.`,
        statement,
        responseOf({ ...statement, ...change }, 1),
        false,
      ),
    ),
    check(
      "other-key",
      "The response of the key for a statement about another key.",
      statementJson(type, 2),
      responseOf(statementJson(type, 2), 1),
      false,
    ),
  ];
}

function x25519() {
  const statement = statementJson("x25519", 1);
  const p = 2n ** 255n - 19n;
  const invalid = [
    ["zero, a point of low order", unsigned(0n), "PUBLIC_KEY_SMALL_ORDER"],
    ["one, a point of low order", reversed(unsigned(1n)), "PUBLIC_KEY_SMALL_ORDER"],
    ["p - 1, a point of low order", reversed(unsigned(p - 1n)), "PUBLIC_KEY_SMALL_ORDER"],
    ["p, which is zero in another encoding", reversed(unsigned(p)), "PUBLIC_KEY_FORMAT"],
    ["a set top bit", reversed(unsigned(2n ** 255n + 9n)), "PUBLIC_KEY_FORMAT"],
    ["31 bytes", Buffer.alloc(31, 9), "PUBLIC_KEY_LENGTH"],
    ["a key of P-256", publicKeyOf("p256", 1), "KEY_TYPE_MISMATCH"],
  ] as const;
  return invalid.map(([about, key, code], i) => ({
    ...{ name: `x25519-ephemeral-${i}`, about: `The service's ephemeral key is invalid: ${about}.`, kind: "answer" },
    statement: { ...statement, ephemeralKey: base64(key) },
    ...{ privateKey: base64(secretOf(privateKeyOf("x25519", 1))), verdict: { code } },
  }));
}

/** Makes a signature as only the key's owner can. Its R is the sum of an honest R and a point of order 8. */
function withTorsion(statement: StatementJson, number: number): Buffer {
  const { Point, utils } = curve;
  const { scalar, pointBytes } = utils.getExtendedPublicKey(secretOf(privateKeyOf("ed25519", number)));
  const r = 12_345_678_901n;
  const torsion = Point.fromHex(ED25519_TORSION_SUBGROUP[1] ?? "");
  const R = Point.BASE.multiply(r).add(torsion).toBytes();
  const hashed = createHash("sha512").update(R).update(pointBytes).update(transcriptOf(statement)).digest();
  const k = big(reversed(hashed));
  return Buffer.concat([R, reversed(unsigned((r + k * scalar) % ORDERS.ed25519))]);
}

function ed25519() {
  const statement = statementJson("ed25519", 1);
  const signature = responseOf(statement, 1);
  const [R, S] = [signature.subarray(0, 32), big(reversed(signature.subarray(32)))];
  const withS = (s: bigint) => Buffer.concat([R, reversed(unsigned(s))]);
  const cases: (readonly [string, Uint8Array])[] = [
    ["S plus the order, which is not canonical (RFC 8032, section 5.1.7)", withS(S + ORDERS.ed25519)],
    ["the negative S", withS(ORDERS.ed25519 - S)],
    ["R as the neutral point and S as zero", Buffer.concat([reversed(unsigned(1n)), Buffer.alloc(32)])],
    ["a part of order 8 in R, which the equation with the cofactor accepts (ZIP-215)", withTorsion(statement, 1)],
    ["R and S in the other order", Buffer.concat([signature.subarray(32), R])],
  ];
  return cases.map(([about, bytes], i) =>
    check(`signature-${i}`, `A signature with ${about}.`, statement, bytes, false),
  );
}

function p256() {
  const statement = statementJson("p256", 1);
  const signature = responseOf(statement, 1);
  const [r, s] = [big(signature.subarray(0, 32)), big(signature.subarray(32))];
  const n = ORDERS.p256;
  const raw = (a: bigint, b: bigint) => Buffer.concat([unsigned(a), unsigned(b)]);
  const integer = (value: bigint) => {
    const bytes = unsigned(value);
    const start = bytes.findIndex((byte) => byte !== 0);
    const minimal = bytes.subarray(start === -1 ? 31 : start);
    return (minimal[0] ?? 0) > 127 ? Buffer.concat([Buffer.of(0), minimal]) : minimal;
  };
  const tagged = (tag: number, ...parts: Uint8Array[]) => {
    const content = Buffer.concat(parts);
    return Buffer.concat([Buffer.of(tag, content.length), content]);
  };
  const der = (a: Uint8Array, b: Uint8Array) => tagged(0x30, tagged(2, a), tagged(2, b));
  const [R, S] = [integer(r), integer(s)];
  const good = der(R, S);
  const accepted: (readonly [string, Uint8Array])[] = [
    ["in DER, as the Secure Enclave and the Android Keystore make it", good],
    ["with the other s, which is as valid (SEC 1 does not limit s)", raw(r, n - s)],
    ["with the other s, in DER", der(R, integer(n - s))],
  ];
  const refused: (readonly [string, Uint8Array])[] = [
    ["r of zero", raw(0n, s)],
    ["s of zero", raw(r, 0n)],
    ["r of the order", raw(n, s)],
    ["s of the order", raw(r, n)],
    ["r and s in the other order", raw(s, r)],
    ["DER with a byte after it", Buffer.concat([good, Buffer.of(0)])],
    ["DER with a byte less", good.subarray(0, -1)],
    ["DER with a zero before r", der(Buffer.concat([Buffer.of(0, 0), unsigned(r)]), S)],
    ["DER with a length in two bytes", Buffer.concat([Buffer.of(0x30, 0x81, good.length - 2), good.subarray(2)])],
    ["DER of a set instead of a sequence", tagged(0x31, tagged(2, R), tagged(2, S))],
    ["DER with a third integer", tagged(0x30, tagged(2, R), tagged(2, S), tagged(2, Buffer.of(1)))],
    ["DER with a negative r", der(Buffer.concat([Buffer.of(0x80), unsigned(r).subarray(1)]), S)],
    ["DER with r and s of zero", der(Buffer.of(0), Buffer.of(0))],
  ];
  return [
    ...accepted.map(([about, bytes], i) => check(`form-${i}`, `A signature ${about}.`, statement, bytes, true)),
    ...refused.map(([about, bytes], i) =>
      check(`signature-${i}`, `A signature with ${about}.`, statement, bytes, false),
    ),
  ];
}

const set = {
  format: "keyroot-vectors-v1",
  kind: "possession",
  about: "Proofs of possession of X25519, Ed25519 and P-256 keys.",
  vectors: [...PROVING.flatMap(ofType), ...x25519(), ...ed25519(), ...p256()],
};
await writeOrCheck("test/vectors/possession/key-types.json", `${JSON.stringify(set, null, 1)}\n`);
