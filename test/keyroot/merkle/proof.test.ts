import { expect } from "chai";
import fc from "fast-check";
import { ArgumentError, VerificationError } from "../../../packages/keyroot/src/errors.ts";
import { base64ToBytes, bytesToBase64 } from "../../../packages/keyroot/src/bytes/base64.ts";
import { type KeyRecord, serializeKeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { keyIDOf } from "../../../packages/keyroot/src/identity/publicKey.ts";
import { makeMerkleFile, type MerkleFile } from "../../../packages/keyroot/src/merkle/file.ts";
import {
  verifyProof,
  makeProof,
  type MerkleProof,
  parseProof,
  type ProofQuery,
  type Sibling,
} from "../../../packages/keyroot/src/merkle/proof.ts";
import { refusalOf } from "../../support/refusalOf.ts";
import { sampleRecords, sampleUserID, sha256 } from "../../../fixtures/samples.ts";
import { mutation, swap } from "../../support/mutations.ts";

const bytesOf = (proof: unknown) => new TextEncoder().encode(JSON.stringify(proof));

/** The root, by the specification's words ("Verify an inclusion proof"): a second opinion by Node's hash. */
function naiveRoot({ value, siblings }: Pick<MerkleProof, "value" | "siblings">): string {
  let hash = sha256(value);
  for (const sibling of siblings) {
    hash = sibling.side === "right" ? sha256(hash + sibling.hash) : sha256(sibling.hash + hash);
  }
  return hash;
}

describe("Merkle proof", () => {
  const file = makeMerkleFile(sampleRecords(7));
  const { root } = file.tree;
  const [mine, other, third] = file.records as [KeyRecord, KeyRecord, KeyRecord];
  const { userID } = mine;
  const good = makeProof(file, userID);
  const check = (proof: unknown, question: Partial<ProofQuery> = {}) =>
    verifyProof(proof, { userID, root, ...question });
  /** The good proof, with something in the place of something else. */
  const but = (change: object) => ({ ...good, ...change });

  describe("of every record of a file", () => {
    const provesAll = ({ records, values, tree }: MerkleFile, users: readonly number[]) => {
      for (const i of users) {
        const [record] = records.slice(i, i + 1) as [KeyRecord];
        const proof = makeProof({ records, values, tree, lookup: new Map([[record.userID, i]]) }, record.userID);
        expect(proof.siblings).to.have.lengthOf(tree.height - 1);
        expect(naiveRoot(proof)).to.equal(tree.root);
        const publicKey = base64ToBytes(record.pubKey);
        const proven = { record, publicKey, root: tree.root, uniqueness: "unchecked" };
        const question = { userID: record.userID, root: tree.root };
        expect(verifyProof(proof, question)).to.deep.equal(proven);
        expect(verifyProof(bytesOf(proof), { ...question, expectedPublicKey: publicKey })).to.deep.equal(proven);
      }
    };

    for (const range of [
      [1, 8],
      [9, 16],
      [17, 33],
    ] as const) {
      it(`holds, with ${range.join(" to ")} users`, () => {
        for (let count = range[0]; count <= range[1]; count++) {
          const file = makeMerkleFile(sampleRecords(count));
          provesAll(file, [...file.values.keys()]);
        }
      });
    }

    for (const count of [63, 64, 65, 127, 128, 129, 700, 1000, 1023, 1024, 1025, 4097]) {
      it(`holds, with ${count} users, at the ends, in the middle and in between`, () => {
        const places = [0, 1, 2, count >> 1, (count >> 1) + 1, Math.ceil(count / 3), count - 3, count - 2, count - 1];
        provesAll(makeMerkleFile(sampleRecords(count)), places);
      });
    }

    it("has 3 kB at the most with 700 users", () => {
      const large = makeMerkleFile(sampleRecords(700));
      const sizes = large.records.map(({ userID }) => bytesOf(makeProof(large, userID)).length);
      expect(Math.max(...sizes)).to.be.at.most(3_000);
    });

    it("is always the same text, and names its format", () => {
      const { value, siblings } = good;
      expect(Object.keys(good)).to.deep.equal(["format", "value", "siblings", "root"]);
      expect(good).to.deep.equal({ format: "keyroot-proof-v1", value, siblings, root });
      expect(value).to.equal(serializeKeyRecord(mine));
    });

    it("pairs a lone last node with itself, on the right", () => {
      const [last] = file.records.slice(-1) as [KeyRecord];
      const [sibling] = makeProof(file, last.userID).siblings;
      expect(sibling).to.deep.equal({ side: "right", hash: sha256(serializeKeyRecord(last)) });
    });

    it("is not made for a user who is not in the file", () => {
      for (const user of [sampleUserID(7), "", "__proto__"]) {
        expect(refusalOf(() => makeProof(file, user))).to.equal("record: USER_NOT_IN_FILE");
      }
    });
  });

  describe("that is as it should be", () => {
    it("may be spelled otherwise, with the record as it was hashed", () => {
      const { root, siblings, value, format } = good;
      const text = JSON.stringify({ siblings, root, format, value }, null, 1);
      expect(check(new TextEncoder().encode(text))).to.deep.equal(check(good));
      const spaced = makeMerkleFile([mine, other]);
      const values = spaced.values.map((value) => ` ${value} `);
      const siblingHash = sha256(values[1] ?? "");
      const ours = { ...good, value: values[0], siblings: [{ side: "right", hash: siblingHash }] };
      const naive = sha256(sha256(values[0] ?? "") + siblingHash);
      expect(verifyProof({ ...ours, root: naive }, { userID, root: naive }).record).to.deep.equal(mine);
    });

    it("is read without being judged", () => {
      expect(parseProof(good)).to.deep.equal({ proof: good, record: mine });
      expect(parseProof(but({ root: "0".repeat(64) })).record).to.deep.equal(mine);
    });

    it("is not asked about a root that is none", () => {
      for (const wrong of ["", `0x${root}`, root.toUpperCase(), root.slice(1), undefined as unknown as string]) {
        expect(() => check(good, { root: wrong }))
          .to.throw(ArgumentError)
          .and.include({ code: "HASH_INVALID" });
      }
    });
  });

  describe("that was tampered with", () => {
    const elsewhere = makeMerkleFile(
      sampleRecords(7, 2).map((record, i) => (i === 0 ? { ...record, userID } : record)),
    );
    const alien = makeProof(elsewhere, userID);
    const [sibling] = good.siblings as [Sibling];
    const withSibling = (change: object) => but({ siblings: good.siblings.with(0, { ...sibling, ...change }) });

    const falsehoods: [string, string, unknown][] = [
      ["another record of the user", "tree: ROOT_MISMATCH", but({ value: serializeKeyRecord({ ...third, userID }) })],
      ["another user's record", "record: USER_MISMATCH", but({ value: serializeKeyRecord(other) })],
      ["another user's proof", "record: USER_MISMATCH", makeProof(file, other.userID)],
      ["a proof under another root", "tree: ROOT_MISMATCH", alien],
      ["a proof under another root that claims this one", "tree: ROOT_MISMATCH", { ...alien, root }],
      ["another root", "tree: ROOT_MISMATCH", but({ root: alien.root })],
      ["a space in the record", "tree: ROOT_MISMATCH", but({ value: `${good.value} ` })],
      ["a sibling less", "tree: ROOT_MISMATCH", but({ siblings: good.siblings.slice(1) })],
      ["no sibling", "tree: ROOT_MISMATCH", but({ siblings: [] })],
      ["a sibling twice", "tree: ROOT_MISMATCH", but({ siblings: [sibling, ...good.siblings] })],
      ["siblings in another order", "tree: ROOT_MISMATCH", but({ siblings: good.siblings.toReversed() })],
      ["the other side", "tree: ROOT_MISMATCH", withSibling({ side: "left" })],
      ["20 siblings", "tree: ROOT_MISMATCH", but({ siblings: new Array(20).fill(sibling) })],
      ["21 siblings", "file: PROOF_SHAPE", but({ siblings: new Array(21).fill(sibling) })],
    ];
    for (const [i, digit] of Array.from(sibling.hash.slice(0, 3)).entries()) {
      const hash = sibling.hash.slice(0, i) + (digit === "0" ? "1" : "0") + sibling.hash.slice(i + 1);
      falsehoods.push([`digit ${i} of a hash changed`, "tree: ROOT_MISMATCH", withSibling({ hash })]);
    }
    for (const [name, refusal, proof] of falsehoods) {
      it(`is refused for ${name}: ${refusal}`, () => {
        for (const form of [proof, bytesOf(proof)]) expect(refusalOf(() => check(form))).to.equal(refusal);
      });
    }

    it("is refused where every sibling has been changed", () => {
      for (const [i, { hash }] of good.siblings.entries()) {
        const siblings = good.siblings.with(i, { side: "left", hash: sha256(hash) });
        expect(refusalOf(() => check(but({ siblings })))).to.equal("tree: ROOT_MISMATCH");
      }
    });

    it("is refused where its root is right and the key in its record is not", () => {
      const bytes = base64ToBytes(mine.pubKey).with(104, 0);
      for (const [code, change] of [
        ["KEY_ID_MISMATCH", { keyID: third.keyID }],
        ["PUBLIC_KEY_NOT_ON_CURVE", { pubKey: bytesToBase64(bytes), keyID: bytesToBase64(keyIDOf(bytes)) }],
      ] as const) {
        const proof = makeProof(makeMerkleFile([{ ...mine, ...change }, other]), userID);
        expect(refusalOf(() => check(proof, { root: proof.root }))).to.equal(`record: ${code}`);
      }
    });

    it("is refused where the value is two hashes in a row, though they lead to the root", () => {
      const [left = "", right = ""] = file.tree.hashes(0);
      const value = left + right;
      const forged = but({ value, siblings: good.siblings.slice(1) });
      expect(naiveRoot(forged)).to.equal(root);
      expect(refusalOf(() => check(forged))).to.equal("record: VALUE_LOOKS_LIKE_NODE");
    });

    it("is refused where the key is not the one that was handed out, be it another's", () => {
      for (const expectedPublicKey of [base64ToBytes(third.pubKey), new Uint8Array(), new Uint8Array(105)]) {
        const details = { expected: mine.pubKey, actual: bytesToBase64(expectedPublicKey) };
        expect(() => check(good, { expectedPublicKey }))
          .to.throw(VerificationError)
          .and.include({ step: "key", code: "KEY_MISMATCH", ...details });
      }
    });

    it("says what was expected and what was there", () => {
      const details = { expected: root, actual: alien.root };
      expect(() => check(alien))
        .to.throw(VerificationError)
        .and.include({ step: "tree", code: "ROOT_MISMATCH", ...details });
      const user = { expected: third.userID, actual: userID };
      expect(() => check(good, { userID: third.userID }))
        .to.throw(VerificationError)
        .and.include({ step: "record", code: "USER_MISMATCH", ...user });
    });

    it("never makes another key pass, and is never refused without a code, whatever is changed", () => {
      const known = JSON.stringify([good, alien, makeProof(file, other.userID)]);
      fc.assert(
        fc.property(fc.array(fc.oneof(mutation(known), swap(known)), { minLength: 1, maxLength: 3 }), (changes) => {
          const bytes = changes.reduce((text, change) => change(text), JSON.stringify(good));
          const proven: unknown[] = [];
          const refusal = refusalOf(() => proven.push(check(new TextEncoder().encode(bytes)).record));
          expect(proven).to.deep.equal(refusal === undefined ? [mine] : []);
        }),
        { numRuns: 3000 },
      );
    });
  });

  describe("of another form", () => {
    const { value, ...rest } = good;
    const [sibling] = good.siblings as [Sibling];
    const malformed: [string, unknown][] = [
      ["nothing", undefined],
      ["null", null],
      ["text", JSON.stringify(good)],
      ["a list", [good]],
      ["an empty object", {}],
      ["no value", rest],
      ["a key too many", but({ index: 0 })],
      ["an inherited name for a key", JSON.parse(`{"__proto__":{},${JSON.stringify(good).slice(1)}`)],
      ["another version", but({ format: "keyroot-proof-v2" })],
      ["a value that is no text", but({ value: JSON.parse(value) as unknown })],
      ["siblings that are no list", but({ siblings: { 0: sibling, length: 1 } })],
      ["a sibling that is a hash", but({ siblings: [sibling.hash] })],
      ["a sibling that is null", but({ siblings: [null] })],
      ["a sibling without a side", but({ siblings: [{ hash: sibling.hash }] })],
      ["a third side", but({ siblings: [{ ...sibling, side: "up" }] })],
      ["a sibling with more", but({ siblings: [{ ...sibling, level: 0 }] })],
      ["a hash in upper case", but({ siblings: [{ ...sibling, hash: sibling.hash.toUpperCase() }] })],
      ["a hash with 0x", but({ siblings: [{ ...sibling, hash: `0x${sibling.hash}` }] })],
      ["a shorter hash", but({ siblings: [{ ...sibling, hash: sibling.hash.slice(1) }] })],
      ["a hash and a line break", but({ siblings: [{ ...sibling, hash: `${sibling.hash}\n` }] })],
      ["a root in upper case", but({ root: root.toUpperCase() })],
      ["a root with 0x", but({ root: `0x${root}` })],
    ];
    for (const [name, proof] of malformed) {
      it(`is refused as PROOF_SHAPE: ${name}`, () => {
        expect(refusalOf(() => check(proof))).to.equal("file: PROOF_SHAPE");
      });
    }

    const text = JSON.stringify(good);
    const garbage: [string, string, string | Uint8Array][] = [
      ["no bytes", "JSON_INVALID", ""],
      ["half of it", "JSON_INVALID", text.slice(0, -1)],
      ["a byte-order mark", "JSON_FORBIDDEN_TOKEN", `\ufeff${text}`],
      ["a key twice", "JSON_DUPLICATE_KEY", text.replace("{", '{"root":"",')],
      ["null", "JSON_FORBIDDEN_TOKEN", "null"],
      ["much inside each other", "JSON_TOO_DEEP", "[[[[]]]]"],
      ["bytes that are not UTF-8", "FILE_NOT_UTF8", Uint8Array.of(0x7b, 0xff, 0x7d)],
      ["more than 16 kB", "FILE_TOO_LARGE", text.padEnd(2 ** 14 + 1)],
    ];
    for (const [name, code, content] of garbage) {
      it(`is refused as ${code}: ${name}`, () => {
        const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
        expect(refusalOf(() => check(bytes))).to.equal(`file: ${code}`);
      });
    }

    it("is refused for what is wrong with its record", () => {
      const records: [string, string][] = [
        ["JSON_INVALID", value.slice(1)],
        ["JSON_DUPLICATE_KEY", value.replace("{", '{"keyID":"",')],
        ["RECORD_INVALID", "{}"],
        ["USER_ID_INVALID", value.replace(userID, userID.toUpperCase())],
        ["BASE64_INVALID", value.replace(mine.keyID, "=")],
        ["PUBLIC_KEY_LENGTH", value.replace(mine.pubKey, "")],
        ["KEY_ID_INVALID", value.replace(mine.keyID, "")],
      ];
      for (const [code, record] of records) {
        expect(refusalOf(() => check(but({ value: record })))).to.equal(`record: ${code}`);
      }
    });

    it("is refused in few words that steer no terminal", () => {
      for (const key of ["\u001b[31m", "x".repeat(10_000)]) {
        expect(() => check({ [key]: 1 }))
          .to.throw(VerificationError)
          .and.has.property("message")
          .that.matches(/^[ -~…]{1,300}$/);
      }
    });
  });
});
