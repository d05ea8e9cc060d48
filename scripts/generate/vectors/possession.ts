/**
 * Vectors for proof of possession (docs/formats.md): what an app answers to a challenge, and what a service accepts. Written
 * directly from the rules, with test/support/data/curve41417.ts and Node's HKDF and HMAC: the library computes none of it.
 */
import { createHash, createHmac, hkdfSync } from "node:crypto";
import {
  add,
  BASE,
  decode,
  encode,
  IDENTITY,
  multiply,
  N,
  P,
  pointsOfSmallOrder,
} from "../../../test/support/data/curve41417.ts";
import { sampleUserID, sha256 } from "../../../test/support/samples.ts";
import { base32nopad } from "@scure/base";

/** The fields of a statement. Byte strings are in base64, times in ms since 1970. */
export interface StatementJson {
  service: string;
  /** Null if the service publishes no keys; then `contract` is null, too. */
  chainId: number | null;
  contract: string | null;
  userID: string;
  publicKey: string;
  nonce: string;
  ephemeralKey: string;
  expires: number;
}

/** Scalars are decimal numbers in strings. */
type PossessionVector = { name: string; about: string } & (
  | {
      kind: "answer";
      statement: StatementJson;
      privateKey: string;
      verdict: { transcript: string; sharedPoint: string; response: string } | { code: string };
    }
  | {
      kind: "check";
      statement: StatementJson;
      ephemeralPrivateKey: string;
      response: string;
      verdict: { accepted: boolean };
    }
);

export interface PossessionVectorSet {
  format: "keyroot-vectors-v1";
  kind: "possession";
  about: string;
  vectors: PossessionVector[];
}

const LABEL = "keyroot-possession-v1";

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, "base64"));
const scalar = (seed: string) => (BigInt(`0x${createHash("sha512").update(seed).digest("hex")}`) % (N - 1n)) + 1n;
const unsigned = (value: number, bytes: number) => Buffer.from(value.toString(16).padStart(2 * bytes, "0"), "hex");
const userIDBytes = (userID: string) => {
  const zBase32 = "ybndrfg8ejkmcpqxot1uwisza345h769";
  const base32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  return base32nopad.decode(Array.from(userID, (digit) => base32[zBase32.indexOf(digit)]).join(""));
};

function transcriptOf(statement: StatementJson): Buffer {
  const name = Buffer.from(statement.service);
  const publicKey = bytesOf(statement.publicKey);
  return Buffer.concat([
    Buffer.from(LABEL),
    unsigned(name.length, 2),
    name,
    unsigned(statement.chainId ?? 0, 8),
    Buffer.from((statement.contract ?? `0x${"00".repeat(20)}`).slice(2), "hex"),
    userIDBytes(statement.userID),
    publicKey,
    Buffer.from(sha256(publicKey).slice(0, 32), "hex"),
    bytesOf(statement.nonce),
    bytesOf(statement.ephemeralKey),
    unsigned(statement.expires, 8),
  ]);
}

function responseTo(statement: StatementJson, privateKey: bigint) {
  const sharedPoint = encode(multiply(privateKey, decode(bytesOf(statement.ephemeralKey))));
  const key = Buffer.from(hkdfSync("sha256", sharedPoint, bytesOf(statement.nonce), LABEL, 32));
  const transcript = transcriptOf(statement);
  const response = createHmac("sha256", key).update(transcript).digest();
  return { transcript: transcript.toString("hex"), sharedPoint: base64(sharedPoint), response: base64(response) };
}

const PRIVATE_KEY = scalar("user");
const EPHEMERAL = scalar("service");
const OTHER_KEY = scalar("other user");
const publicKeyOf = (privateKey: bigint) => base64(encode(multiply(privateKey, BASE)));

const STATEMENT: StatementJson = {
  service: "https://keys.example.com",
  chainId: 1,
  contract: "0x997715d0eb47a50d7521ed0d2d023624a4333f9a",
  userID: sampleUserID(1),
  publicKey: publicKeyOf(PRIVATE_KEY),
  nonce: base64(Buffer.from(sha256("nonce"), "hex")),
  ephemeralKey: publicKeyOf(EPHEMERAL),
  expires: 1_800_000_300_000,
};

/** Other values of each field of the statement. */
const OTHERS: [what: string, change: Partial<StatementJson>][] = [
  ["another service", { service: "https://keys.example.org" }],
  ["a service with a path and other characters", { service: "https://xn--bcher-kva.example/keys/%C3%BC" }],
  ["another chain", { chainId: 11155111 }],
  ["the greatest chain id", { chainId: Number.MAX_SAFE_INTEGER }],
  ["another contract", { contract: `0x${"5f".repeat(20)}` }],
  ["no chain and no contract", { chainId: null, contract: null }],
  ["another user", { userID: sampleUserID(2) }],
  ["the user whose id is zero", { userID: "y".repeat(32) }],
  ["another nonce", { nonce: base64(Buffer.from(sha256("another nonce"), "hex")) }],
  ["another ephemeral key", { ephemeralKey: publicKeyOf(scalar("another challenge")) }],
  ["another time of expiry", { expires: STATEMENT.expires + 1 }],
];

const [, ofOrderTwo = IDENTITY, ofOrderFour = IDENTITY, , ofOrderEight = IDENTITY] = pointsOfSmallOrder();

/** Ephemeral keys that an app must not use. */
const BAD_POINTS: [what: string, key: Uint8Array, code: string][] = [
  ["no bytes", new Uint8Array(), "PUBLIC_KEY_LENGTH"],
  ["104 bytes", bytesOf(STATEMENT.ephemeralKey).subarray(0, 104), "PUBLIC_KEY_LENGTH"],
  [
    "the first byte of a compressed point",
    Uint8Array.of(2, ...bytesOf(STATEMENT.ephemeralKey).subarray(1)),
    "PUBLIC_KEY_FORMAT",
  ],
  ["a coordinate equal to the field's prime", encode({ x: P, y: 34n }), "PUBLIC_KEY_FORMAT"],
  ["a point that is not on the curve", encode({ x: 1n, y: 2n }), "PUBLIC_KEY_NOT_ON_CURVE"],
  ["the identity", encode(IDENTITY), "PUBLIC_KEY_SMALL_ORDER"],
  ["a point of order 2", encode(ofOrderTwo), "PUBLIC_KEY_SMALL_ORDER"],
  ["a point of order 4", encode(ofOrderFour), "PUBLIC_KEY_SMALL_ORDER"],
  ["a point of order 8", encode(ofOrderEight), "PUBLIC_KEY_SMALL_ORDER"],
  ["a point of order 2n", encode(add(multiply(EPHEMERAL, BASE), ofOrderTwo)), "PUBLIC_KEY_NOT_PRIME_ORDER"],
  ["a point of order 8n", encode(add(multiply(EPHEMERAL, BASE), ofOrderEight)), "PUBLIC_KEY_NOT_PRIME_ORDER"],
];

function answers(): PossessionVector[] {
  const answer = (
    name: string,
    about: string,
    statement: StatementJson,
    privateKey = PRIVATE_KEY,
  ): PossessionVector => ({
    ...{ name, about, kind: "answer", statement, privateKey: String(privateKey) },
    verdict: responseTo(statement, privateKey),
  });
  return [
    answer("possession-answer", "The response to a challenge.", STATEMENT),
    ...OTHERS.map(([what, change], i) =>
      answer(`possession-answer-${i + 1}`, `The response for ${what}.`, { ...STATEMENT, ...change }),
    ),
    ...[1n, 2n, N - 1n].map((privateKey, i) =>
      answer(
        `possession-answer-scalar-${i + 1}`,
        `The response with the private key ${privateKey === N - 1n ? "n - 1" : privateKey}.`,
        { ...STATEMENT, publicKey: publicKeyOf(privateKey) },
        privateKey,
      ),
    ),
    ...BAD_POINTS.map(([what, key, code], i): PossessionVector => ({
      ...{ name: `possession-ephemeral-${i + 1}`, about: `The service's ephemeral key is ${what}: no response.` },
      ...{ kind: "answer", statement: { ...STATEMENT, ephemeralKey: base64(key) }, privateKey: String(PRIVATE_KEY) },
      verdict: { code },
    })),
  ];
}

function checks(): PossessionVector[] {
  const check = (name: string, about: string, response: string, accepted: boolean): PossessionVector => ({
    ...{ name, about, kind: "check", statement: STATEMENT, ephemeralPrivateKey: String(EPHEMERAL), response },
    verdict: { accepted },
  });
  const { response, sharedPoint, transcript } = responseTo(STATEMENT, PRIVATE_KEY);
  const macOf = (key: Uint8Array, text: Uint8Array) => base64(createHmac("sha256", key).update(text).digest());
  const wrong: [what: string, response: string][] = [
    ...OTHERS.map(([what, change]): [string, string] => [
      `for ${what}`,
      responseTo({ ...STATEMENT, ...change }, PRIVATE_KEY).response,
    ]),
    ["with another private key", responseTo(STATEMENT, OTHER_KEY).response],
    ["with the negated private key", responseTo(STATEMENT, N - PRIVATE_KEY).response],
    ["with one bit changed", base64(bytesOf(response).map((byte, i) => (i === 31 ? byte ^ 1 : byte)))],
    ["of zeros", base64(new Uint8Array(32))],
    ["that is a MAC under the shared point itself", macOf(bytesOf(sharedPoint), Buffer.from(transcript, "hex"))],
    ["that is a MAC under the nonce", macOf(bytesOf(STATEMENT.nonce), Buffer.from(transcript, "hex"))],
    ["that is a hash of the transcript", base64(Buffer.from(sha256(Buffer.from(transcript, "hex")), "hex"))],
  ];
  return [
    check("possession-check", "The response of the user who holds the private key.", response, true),
    ...wrong.map(([what, response], i) => check(`possession-check-${i + 1}`, `A response ${what}.`, response, false)),
  ];
}

/** The text of test/vectors/possession/possession.json. */
export function makePossessionVectors(): string {
  const set: PossessionVectorSet = {
    format: "keyroot-vectors-v1",
    kind: "possession",
    about: "Responses to challenges that prove possession of a private key.",
    vectors: [...answers(), ...checks()],
  };
  return `${JSON.stringify(set, null, 1)}\n`;
}
