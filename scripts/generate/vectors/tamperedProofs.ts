import type { MerkleProof } from "keyroot/merkle";
import { decode, encode, P, pointsOfSmallOrder } from "../../../test/support/data/curve41417.ts";
import { sampleUserID, sha256 } from "../../../test/support/samples.ts";
import { type Forged, rejected } from "./rejected.ts";
import { pointOf, recordOf, SampleFile, sampleRecord, textOf } from "./sampleFile.ts";
import { plainProof, proofIn, proofWithValue } from "./sampleProof.ts";
import type { Vector } from "./vector.ts";

/** Proofs that are not JSON, have another form, have wrong siblings, or contain records that must not be trusted. */
export function tamperedProofs(): Vector[] {
  const file = new SampleFile(5);
  const proof = proofIn(file, 1);
  const text = JSON.stringify(proof);
  const question = file.question(1);
  const record = file.record(1);
  const { value, siblings, root } = proof;
  const { userID, pubKey, keyID } = record;
  const publicKey = Buffer.from(pubKey, "base64");
  const point = decode(publicKey);
  const [first = { side: "left", hash: "" }] = siblings;
  const stranger = sha256("stray");

  const withFields = (change: object) => JSON.stringify({ ...proof, ...change });
  const without = (key: keyof MerkleProof) => withFields({ [key]: undefined });
  const withFirst = (change: object | string | number) =>
    withFields({
      siblings: siblings.with(0, typeof change === "object" ? { ...first, ...change } : (change as never)),
    });
  const edited = (from: string, to: string) => {
    if (!text.includes(from)) throw new Error(`The proof has no ${from}.`);
    return text.replace(from, () => to);
  };
  /** A proof of another record, with the root that follows from it in the query. */
  const withValue = (value: string): Forged => {
    const forged = proofWithValue(proof, value);
    return { content: JSON.stringify(forged), question: { userID, root: forged.root } };
  };
  const changed = (change: object) => withValue(JSON.stringify({ ...record, ...change }));
  const key = (bytes: Uint8Array) => withValue(textOf(recordOf(userID, bytes)));
  const withQuery = (change: object): Forged => ({ content: text, question: { ...question, ...change } });
  const withGivenKey = (bytes: Uint8Array) => withQuery({ expectedPublicKey: Buffer.from(bytes).toString("base64") });
  const other = proofIn(file, 0);
  const alien = plainProof([textOf({ ...sampleRecord(50), userID }), ...file.values.slice(1)], 0);
  const pair = sha256(file.values[0] ?? "") + sha256(value);

  return [
    ...rejected("file: FILE_TOO_LARGE", question, [
      ["proof-too-large", "a byte more than 16,384, for spaces behind the end", text.padEnd(2 ** 14 + 1)],
    ]),
    ...rejected("file: FILE_NOT_UTF8", question, [
      ["proof-not-utf8", "the byte 0xff behind the end", Buffer.concat([Buffer.from(text), Uint8Array.of(0xff)])],
      ["proof-utf8-overlong", "NUL in two bytes", Uint8Array.of(0x7b, 0xc0, 0x80, 0x7d)],
    ]),
    ...rejected("file: JSON_INVALID", question, [
      ["proof-empty", "no bytes", ""],
      ["proof-truncated", "the last brace is missing", text.slice(0, -1)],
      ["proof-trailing-brace", "a brace too many", `${text}}`],
      ["proof-twice", "the proof twice, end to end", text + text],
      ["proof-trailing-comma", "a comma behind the last sibling", edited("}]", "},]")],
    ]),
    ...rejected("file: JSON_FORBIDDEN_TOKEN", question, [
      ["proof-byte-order-mark", "a byte-order mark", `\ufeff${text}`],
      ["proof-trailing-nul", "NUL behind the end", `${text}\0`],
      ["proof-trailing-letter", "a letter behind the end", `${text}x`],
      ["proof-null", "null", "null"],
      ["proof-root-null", "a root that is null", withFields({ root: null })],
    ]),
    ...rejected("file: JSON_TOO_DEEP", question, [
      ["proof-too-deep", "a hash in an array", withFirst({ hash: [first.hash] })],
    ]),
    ...rejected("file: JSON_DUPLICATE_KEY", question, [
      ["proof-twice-root", "root twice: the last is good", edited('"root":', `"root":"${stranger}","root":`)],
      ["proof-twice-value", "value twice, the same", edited('"value":', `"value":${JSON.stringify(value)},"value":`)],
      ["proof-twice-by-escape", "siblings twice, once with an escape", edited("{", '{"s\\u0069blings":[],')],
      ["proof-twice-side", "a sibling's side twice", edited('"side":', '"side":"left","side":')],
      ["proof-twice-proto", "__proto__ twice", edited("{", '{"__proto__":{},"__proto__":{},')],
    ]),
    ...rejected("file: PROOF_SHAPE", question, [
      ["proof-array", "the parts of the proof in an array", JSON.stringify([proof.format, value, [], root])],
      ["proof-text", "a text for a proof", JSON.stringify("proof")],
      ["proof-number", "a number for a proof", "0"],
      ["proof-empty-object", "an object without keys", "{}"],
      ["proof-without-format", "no format", without("format")],
      ["proof-without-value", "no value", without("value")],
      ["proof-without-siblings", "no siblings", without("siblings")],
      ["proof-without-root", "no root", without("root")],
      ["proof-with-more", "a fifth key", withFields({ index: 1 })],
      ["proof-proto", "__proto__ as a fifth key", edited("{", '{"__proto__":{},')],
      ["proof-proto-for-root", "the root under __proto__", edited('"root":', '"__proto__":')],
      ["proof-constructor", "constructor as a fifth key", edited("{", '{"constructor":0,')],
      ["proof-format-2", "another version", withFields({ format: "keyroot-proof-v2" })],
      ["proof-format-bundle", "the format of a bundle", withFields({ format: "keyroot-bundle-v1" })],
      ["proof-format-upper-case", "the format in upper case", withFields({ format: "KEYROOT-PROOF-V1" })],
      ["proof-format-line-feed", "the format and a line feed", withFields({ format: "keyroot-proof-v1\n" })],
      ["proof-format-number", "a format that is a number", withFields({ format: 1 })],
      ["proof-value-object", "the record as an object", withFields({ value: record })],
      ["proof-value-number", "a number for a value", withFields({ value: 0 })],
      ["proof-siblings-object", "an object for siblings", withFields({ siblings: { 0: first } })],
      ["proof-siblings-text", "a text for siblings", withFields({ siblings: first.hash })],
      ["proof-sibling-text", "a hash for a sibling", withFirst(first.hash)],
      ["proof-sibling-array", "an array for a sibling", withFields({ siblings: [["left", first.hash]] })],
      ["proof-sibling-empty", "a sibling without keys", withFields({ siblings: [{}] })],
      ["proof-sibling-without-side", "a sibling without a side", withFirst({ side: undefined })],
      ["proof-sibling-without-hash", "a sibling without a hash", withFirst({ hash: undefined })],
      ["proof-sibling-with-more", "a sibling with a level", withFirst({ level: 0 })],
      ["proof-side-upper-case", "a side in upper case", withFirst({ side: "LEFT" })],
      ["proof-side-other", "a third side", withFirst({ side: "up" })],
      ["proof-side-empty", "no text for a side", withFirst({ side: "" })],
      ["proof-side-number", "a number for a side", withFirst({ side: 0 })],
      ["proof-hash-upper-case", "a hash in upper case", withFirst({ hash: first.hash.toUpperCase() })],
      ["proof-hash-0x", "a hash with 0x", withFirst({ hash: `0x${first.hash}` })],
      ["proof-hash-63", "a hash of 63 digits", withFirst({ hash: first.hash.slice(1) })],
      ["proof-hash-65", "a hash of 65 digits", withFirst({ hash: `${first.hash}0` })],
      ["proof-hash-line-feed", "a hash and a line feed", withFirst({ hash: `${first.hash}\n` })],
      [
        "proof-hash-letter",
        "a hash with a letter that is no hex digit",
        withFirst({ hash: `g${first.hash.slice(1)}` }),
      ],
      ["proof-hash-number", "a number for a hash", withFirst({ hash: 0 })],
      ["proof-root-upper-case", "the root in upper case", withFields({ root: root.toUpperCase() })],
      ["proof-root-0x", "the root with 0x", withFields({ root: `0x${root}` })],
      ["proof-root-empty", "no text for a root", withFields({ root: "" })],
      ["proof-root-number", "a number for a root", withFields({ root: 0 })],
      ["proof-21-siblings", "21 siblings", withFields({ siblings: Array.from({ length: 21 }, () => first) })],
    ]),
    ...rejected("record: VALUE_LOOKS_LIKE_NODE", question, [
      [
        "proof-value-node",
        "two leaves for a value, which lead to the root",
        withFields({ value: pair, siblings: siblings.slice(1) }),
      ],
      ["proof-value-128-hex", "any 128 hex digits, under the root that follows", withValue("0".repeat(128))],
    ]),
    ...rejected("record: JSON_INVALID", question, [
      ["proof-record-empty", "a value without a character", withValue("")],
      ["proof-record-truncated", "a record without its brace", withValue(value.slice(0, -1))],
      ["proof-value-127-hex", "127 hex digits", withValue("0".repeat(127))],
    ]),
    ...rejected("record: JSON_FORBIDDEN_TOKEN", question, [
      ["proof-record-byte-order-mark", "a record with a byte-order mark", withValue(`\ufeff${value}`)],
      ["proof-record-null", "null for a record", withValue("null")],
    ]),
    ...rejected("record: JSON_TOO_DEEP", question, [
      ["proof-record-too-deep", "a record whose keyID is in an array", changed({ keyID: [keyID] })],
    ]),
    ...rejected("record: JSON_DUPLICATE_KEY", question, [
      [
        "proof-record-twice",
        "a record with two users: the last is the right one",
        withValue(value.replace("{", `{"userID":"${sampleUserID(9)}",`)),
      ],
    ]),
    ...rejected("record: RECORD_INVALID", question, [
      ["proof-record-empty-object", "a record without fields", withValue("{}")],
      ["proof-record-with-more", "a fourth field", changed({ name: "Bob" })],
      ["proof-record-proto", "__proto__ as a fourth field", withValue(value.replace("{", '{"__proto__":"",'))],
      ["proof-record-without-keyid", "no keyID", changed({ keyID: undefined })],
    ]),
    ...rejected("record: USER_ID_INVALID", question, [
      ["proof-userid-upper-case", "a user id in upper case", changed({ userID: userID.toUpperCase() })],
    ]),
    ...rejected("record: BASE64_INVALID", question, [
      ["proof-keyid-unpadded", "keyID without its padding", changed({ keyID: keyID.slice(0, -2) })],
    ]),
    ...rejected("record: PUBLIC_KEY_LENGTH", question, [
      ["proof-pubkey-104-bytes", "a key of a byte too few", key(publicKey.subarray(0, 104))],
    ]),
    ...rejected("record: KEY_ID_INVALID", question, [["proof-keyid-empty", "no bytes", changed({ keyID: "" })]]),
    ...rejected("record: USER_MISMATCH", question, [
      ["proof-of-another", "another user's proof", JSON.stringify(other)],
      ["proof-value-of-another", "another user's record in the user's place", withFields({ value: other.value })],
      [
        "proof-asked-about-another",
        "a good proof, asked about another user",
        withQuery({ userID: file.record(2).userID }),
      ],
      [
        "proof-asked-about-nobody",
        "a good proof, asked about a user of another file",
        withQuery({ userID: sampleUserID(50) }),
      ],
    ]),
    ...rejected("tree: ROOT_MISMATCH", question, [
      ["proof-root-other", "another root in the proof", withFields({ root: stranger })],
      ["proof-asked-under-other-root", "a good proof, asked about another root", withQuery({ root: stranger })],
      ["proof-alien", "another tree's proof of another key of the user", JSON.stringify(alien)],
      ["proof-alien-with-root", "the same, with the right root in it", JSON.stringify({ ...alien, root })],
      ["proof-value-space", "a space behind the record", withFields({ value: `${value} ` })],
      [
        "proof-value-other-order",
        "the record's fields in another order",
        withFields({ value: JSON.stringify({ keyID, pubKey, userID }) }),
      ],
      [
        "proof-value-key-swapped",
        "another key and its id in the record",
        withFields({ value: textOf({ ...sampleRecord(50), userID }) }),
      ],
      [
        "proof-value-key-off-curve",
        "a key off the curve in the record, not under the root",
        withFields({ value: textOf(recordOf(userID, Buffer.from(publicKey.with(104, 0)))) }),
      ],
      [
        "proof-value-keyid-other",
        "another keyID in the record, not under the root",
        withFields({ value: textOf({ ...record, keyID: sampleRecord(7).keyID }) }),
      ],
      ...siblings.map(
        ({ hash }, i) =>
          [
            `proof-sibling-${i + 1}-changed`,
            `the last digit of sibling ${i + 1} is another`,
            withFields({ siblings: siblings.with(i, { side: siblings[i]?.side ?? "left", hash: flipped(hash) }) }),
          ] as const,
      ),
      ...siblings.map(
        ({ side, hash }, i) =>
          [
            `proof-sibling-${i + 1}-other-side`,
            `sibling ${i + 1} is on the other side`,
            withFields({ siblings: siblings.with(i, { side: side === "left" ? "right" : "left", hash }) }),
          ] as const,
      ),
      ...siblings.map(
        (_, i) =>
          [
            `proof-sibling-${i + 1}-missing`,
            `sibling ${i + 1} is missing`,
            withFields({ siblings: siblings.toSpliced(i, 1) }),
          ] as const,
      ),
      ["proof-siblings-none", "no siblings", withFields({ siblings: [] })],
      ["proof-siblings-reversed", "the siblings the other way round", withFields({ siblings: siblings.toReversed() })],
      ["proof-sibling-twice", "the first sibling twice", withFields({ siblings: [first, ...siblings] })],
      [
        "proof-sibling-added",
        "the root for one sibling more",
        withFields({ siblings: [...siblings, { side: "right", hash: root }] }),
      ],
      [
        "proof-20-siblings",
        "20 siblings, which lead elsewhere",
        withFields({ siblings: Array.from({ length: 20 }, () => first) }),
      ],
      ["proof-sibling-itself", "the leaf is its own sibling", withFirst({ hash: sha256(value) })],
    ]),
    ...rejected("record: PUBLIC_KEY_FORMAT", question, [
      ["proof-key-prefix-2", "the first byte is 0x02", key(Buffer.from(publicKey.with(0, 2)))],
      ["proof-key-not-reduced", "X has the modulus added to it", key(encode({ ...point, x: point.x + P }))],
    ]),
    ...rejected("record: PUBLIC_KEY_NOT_ON_CURVE", question, [
      [
        "proof-key-off-curve",
        "the last byte of Y is another",
        key(Buffer.from(publicKey.with(104, 1 ^ Number(publicKey[104])))),
      ],
      ["proof-key-zero", "X and Y are 0", key(encode({ x: 0n, y: 0n }))],
    ]),
    ...rejected("record: PUBLIC_KEY_SMALL_ORDER", question, [
      ...pointsOfSmallOrder().map(
        (point, i) => [`proof-key-small-order-${i + 1}`, `the point ${i + 1} of 8`, key(encode(point))] as const,
      ),
    ]),
    ...rejected("record: KEY_ID_MISMATCH", question, [
      ["proof-keyid-of-another", "another key's id", changed({ keyID: sampleRecord(7).keyID })],
      [
        "proof-key-of-another",
        "another user's key under the user's keyID",
        changed({ pubKey: sampleRecord(7).pubKey }),
      ],
    ]),
    ...rejected("key: KEY_MISMATCH", question, [
      ["proof-expected-attackers", "the attacker's key was handed out", withGivenKey(encode(pointOf(99)))],
      [
        "proof-expected-bit",
        "the last bit is another",
        withGivenKey(Buffer.from(publicKey.with(104, 1 ^ Number(publicKey[104])))),
      ],
      [
        "proof-expected-not-reduced",
        "the same point, X not reduced",
        withGivenKey(encode({ ...point, x: point.x + P })),
      ],
      ["proof-expected-empty", "no bytes", withGivenKey(Buffer.of())],
    ]),
  ];
}

/** A hash with another last digit. */
function flipped(hash: string): string {
  return hash.slice(0, -1) + (hash.endsWith("0") ? "1" : "0");
}
