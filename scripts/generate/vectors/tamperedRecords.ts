import type { KeyRecord } from "keyroot/identity";
import { decode, encode, P, type Point, pointsOfSmallOrder } from "../../../test/support/data/curve41417.ts";
import { sampleUserID, sha256 } from "../../../test/support/samples.ts";
import { rebuilt, rejected } from "./rejected.ts";
import { pointOf, recordOf, SampleFile, sampleRecord, textOf } from "./sampleFile.ts";
import type { Vector } from "./vector.ts";

/** Valid trees of records that are malformed or have no usable key, and valid files that do not match the query. */
export function tamperedRecords(): Vector[] {
  const two = new SampleFile(2);
  const question = two.question();
  const record = two.record(0);
  const { userID, pubKey, keyID } = record;
  const [, other = ""] = two.values;
  const publicKey = Buffer.from(pubKey, "base64");
  const point = decode(publicKey);

  const value = (text: string) => rebuilt([text, other], userID);
  const fields = (fields: object) => value(JSON.stringify(fields));
  const changed = (change: { [field in keyof KeyRecord]?: unknown }) => fields({ ...record, ...change });
  /** The user's record with these bytes as key, and the matching key id. */
  const key = (bytes: Uint8Array) => value(textOf(recordOf(userID, bytes)));
  const coordinates = (change: Partial<Point>) => key(encode({ ...point, ...change }));
  const prefix = (byte: number) => key(Buffer.from(publicKey.with(0, byte)));
  const withGivenKey = (bytes: Uint8Array) => ({
    content: two.text,
    question: { ...question, expectedPublicKey: Buffer.from(bytes).toString("base64") },
  });
  const withQuery = (userID: string) => ({ content: two.text, question: { ...question, userID } });
  const base64 = (hex: string) => Buffer.from(hex, "hex").toString("base64");
  const lastBitFlipped = (bytes: Uint8Array) => Buffer.from(bytes.with(-1, 1 ^ Number(bytes.at(-1))));
  const orders = [1, 2, 4, 4, 8, 8, 8, 8];

  return [
    ...rejected("file: RECORD_INVALID", question, [
      ["record-empty-object", "a record without fields", value("{}")],
      ["record-array", "a record that is an array", value(JSON.stringify([userID, pubKey, keyID]))],
      ["record-text", "a record that is a text", value('"record"')],
      ["record-number", "a record that is a number", value("0")],
      ["record-without-userid", "no userID", fields({ pubKey, keyID })],
      ["record-without-pubkey", "no pubKey", fields({ userID, keyID })],
      ["record-without-keyid", "no keyID", fields({ userID, pubKey })],
      ["record-with-more", "a fourth field", fields({ ...record, name: "Bob" })],
      ["record-field-lower-case", "pubkey for pubKey", fields({ userID, pubkey: pubKey, keyID })],
      ["record-field-upper-case", "UserID for userID", fields({ UserID: userID, pubKey, keyID })],
      ...["__proto__", "constructor", "toString"].map(
        (name) =>
          [
            `record-${name}`,
            `${name} as a fourth field`,
            value(textOf(record).replace("{", `{"${name}":"",`)),
          ] as const,
      ),
    ]),
    ...rejected("file: USER_ID_INVALID", question, [
      ["userid-upper-case", "in upper case", changed({ userID: userID.toUpperCase() })],
      ["userid-31", "31 characters", changed({ userID: userID.slice(1) })],
      ["userid-33", "33 characters", changed({ userID: `${userID}y` })],
      ["userid-letter", "a letter that zBase32 does not have", changed({ userID: userID.replace(/.$/, "l") })],
      ["userid-hex", "40 hex digits", changed({ userID: sha256("user").slice(0, 40) })],
      ["userid-line-feed", "a line feed behind it", changed({ userID: `${userID}\n` })],
      ["userid-nul", "NUL behind it", changed({ userID: `${userID}\0` })],
      ["userid-space", "a space before it", changed({ userID: ` ${userID}` })],
      ["userid-lone-surrogate", "half a surrogate pair in it", changed({ userID: userID.replace(/.$/, "\ud800") })],
      ["userid-full-width", "a letter in full width", changed({ userID: userID.replace(/.$/, "\uff59") })],
      ["userid-empty", "an empty text", changed({ userID: "" })],
      ["userid-number", "a number", changed({ userID: 0 })],
    ]),
    ...rejected("file: BASE64_INVALID", question, [
      ["keyid-unpadded", "keyID without its padding", changed({ keyID: keyID.slice(0, -2) })],
      ["keyid-half-padded", "keyID with half of its padding", changed({ keyID: keyID.slice(0, -1) })],
      ["keyid-spare-bits", "keyID with spare bits that are not zero", changed({ keyID: spareBits(keyID) })],
      ["keyid-number", "keyID is a number", changed({ keyID: 0 })],
      ["pubkey-padded", "pubKey with padding that it does not need", changed({ pubKey: `${pubKey}====` })],
      ["pubkey-url-alphabet", "pubKey in the alphabet for URLs", changed({ pubKey: urlAlphabet(pubKey) })],
      ["pubkey-line-feed", "pubKey with a line feed behind it", changed({ pubKey: `${pubKey}\n` })],
      ["pubkey-broken-lines", "pubKey in two lines", changed({ pubKey: pubKey.replace(/.{76}/, "$&\r\n") })],
      ["pubkey-spaces", "pubKey with four spaces before it", changed({ pubKey: `    ${pubKey}` })],
      ["pubkey-number", "pubKey is a number", changed({ pubKey: 0 })],
    ]),
    ...rejected("file: PUBLIC_KEY_LENGTH", question, [
      ["pubkey-empty", "no bytes", key(Buffer.of())],
      ["pubkey-104-bytes", "a byte too few", key(publicKey.subarray(0, 104))],
      ["pubkey-106-bytes", "a byte too many", key(Buffer.from([...publicKey, 0]))],
      [
        "pubkey-hex",
        "the key in hex, which are digits of base64, too",
        changed({ pubKey: `0x${publicKey.toString("hex")}` }),
      ],
      ["pubkey-bare", "X and Y without 0x04", key(publicKey.subarray(1))],
      ["pubkey-compressed", "0x02 and X", key(Buffer.from([2, ...publicKey.subarray(1, 53)]))],
    ]),
    ...rejected("file: KEY_ID_INVALID", question, [
      ["keyid-empty", "no bytes", changed({ keyID: "" })],
      ["keyid-15-bytes", "a byte too few", changed({ keyID: base64(sha256(publicKey).slice(0, 30)) })],
      ["keyid-whole-hash", "all 32 bytes of the hash", changed({ keyID: base64(sha256(publicKey)) })],
    ]),
    ...rejected("record: USER_NOT_IN_FILE", question, [
      ["user-of-another-file", "a user who has no record here", withQuery(sampleUserID(50))],
      [
        "user-nearly",
        "a user id that differs in its last letter",
        withQuery(userID.replace(/.$/, (last) => (last === "y" ? "b" : "y"))),
      ],
    ]),
    ...rejected("record: PUBLIC_KEY_FORMAT", question, [
      ["key-prefix-0", "the first byte is 0x00", prefix(0x00)],
      ["key-prefix-2", "the first byte is 0x02, as in a compressed point", prefix(0x02)],
      ["key-prefix-6", "the first byte is 0x06, as in a hybrid point", prefix(0x06)],
      ["key-x-not-reduced", "X has the modulus added to it", coordinates({ x: point.x + P })],
      ["key-y-not-reduced", "Y has the modulus added to it", coordinates({ y: point.y + P })],
    ]),
    ...rejected("record: PUBLIC_KEY_NOT_ON_CURVE", question, [
      ["key-off-curve", "the last bit of Y is another", key(lastBitFlipped(publicKey))],
      ["key-zero", "X and Y are 0", coordinates({ x: 0n, y: 0n })],
      ["key-one", "X and Y are 1", coordinates({ x: 1n, y: 1n })],
      ["key-x-of-another", "X of another user's key", coordinates({ x: pointOf(7).x })],
    ]),
    ...rejected("record: PUBLIC_KEY_SMALL_ORDER", question, [
      ...pointsOfSmallOrder().map(
        (point, i) =>
          [
            `key-small-order-${i + 1}`,
            `the point ${i + 1} of 8: its order is ${orders[i] ?? 0}`,
            key(encode(point)),
          ] as const,
      ),
    ]),
    ...rejected("record: KEY_ID_MISMATCH", question, [
      ["keyid-of-another", "another key's id", changed({ keyID: sampleRecord(7).keyID })],
      [
        "keyid-bit",
        "one bit of it is another",
        changed({ keyID: lastBitFlipped(Buffer.from(keyID, "base64")).toString("base64") }),
      ],
      ["keyid-second-half", "the second half of the hash", changed({ keyID: base64(sha256(publicKey).slice(32)) })],
      ["keyid-of-text", "the hash of the key's base64", changed({ keyID: base64(sha256(pubKey).slice(0, 32)) })],
      ["key-of-another", "another user's key under the user's keyID", changed({ pubKey: sampleRecord(7).pubKey })],
    ]),
    ...rejected("key: KEY_MISMATCH", question, [
      ["expected-attackers", "the attacker's key was handed out", withGivenKey(encode(pointOf(99)))],
      [
        "expected-other-users",
        "the key of another user of the file",
        withGivenKey(Buffer.from(two.record(1).pubKey, "base64")),
      ],
      ["expected-bit", "the last bit is another", withGivenKey(lastBitFlipped(publicKey))],
      ["expected-not-reduced", "the same point, X not reduced", withGivenKey(encode({ ...point, x: point.x + P }))],
      ["expected-104-bytes", "the key without its last byte", withGivenKey(publicKey.subarray(0, 104))],
      ["expected-106-bytes", "the key and a byte", withGivenKey(Buffer.from([...publicKey, 0]))],
      ["expected-empty", "no bytes", withGivenKey(Buffer.of())],
    ]),
  ];
}

/** The same 16 bytes in base64 that is not canonical: unused bits of the last digit are set. */
function spareBits(base64: string): string {
  return base64.replace(/[AQgw](?===$)/, (digit) => String.fromCharCode(digit.charCodeAt(0) + 1));
}

/** Base64 with the URL alphabet (RFC 4648, section 5). */
function urlAlphabet(base64: string): string {
  return base64.replaceAll("+", "-").replaceAll("/", "_");
}
