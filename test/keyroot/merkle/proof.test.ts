import { expect } from "chai";
import fc from "fast-check";
import { ANY_KEY, type KeyRecord, VerificationError } from "keyroot";
import { serializeKeyRecord } from "keyroot/records";
import { makeMerkleFile, type MerkleFile } from "keyroot/merkle";
import { base64ToBytes, bytesToBase64 } from "keyroot/internal/bytes";
import {
  verifyMerkleProof,
  makeMerkleProof,
  type MerkleProof,
  parseMerkleProof,
  type ProofQuery,
} from "../../../packages/keyroot/src/merkle/proof.ts";
import { refusalOf } from "../../support/refusalOf.ts";
import { sampleRecords, sampleUserID, sha256 } from "../../support/samples.ts";
import { mutation, swap } from "../../support/data/mutations.ts";

const bytesOf = (proof: unknown) => new TextEncoder().encode(JSON.stringify(proof));

/** Computes a proof's root by the rules in docs/formats.md, with Node's SHA-256. */
function naiveRoot({ value, siblings }: Pick<MerkleProof, "value" | "siblings">): string {
  let hash = sha256(value);
  for (const sibling of siblings) {
    hash = sibling.side === "right" ? sha256(hash + sibling.hash) : sha256(sibling.hash + hash);
  }
  return hash;
}

describe("inclusion proofs", () => {
  const file = makeMerkleFile(sampleRecords(7));
  const { root } = file.tree;
  const [mine, other, third] = file.records as [KeyRecord, KeyRecord, KeyRecord];
  const { userID } = mine;
  const good = makeMerkleProof(file, userID);
  const check = (proof: unknown, query: Partial<ProofQuery> = {}) =>
    verifyMerkleProof(proof, { userID, root, expectedPublicKey: ANY_KEY, ...query });
  /** The valid proof with some fields replaced. */
  const but = (change: object) => ({ ...good, ...change });

  describe("makeMerkleProof", () => {
    const provesAll = ({ records, values, tree, keyType }: MerkleFile, users: readonly number[]) => {
      for (const i of users) {
        const [record] = records.slice(i, i + 1) as [KeyRecord];
        const proof = makeMerkleProof(
          { records, values, tree, keyType, lookup: new Map([[record.userID, i]]) },
          record.userID,
        );
        expect(proof.siblings).to.have.lengthOf(tree.height - 1);
        expect(naiveRoot(proof)).to.equal(tree.root);
        const publicKey = base64ToBytes(record.pubKey);
        const proven = { record, publicKey, root: tree.root, uniqueness: "unchecked" };
        const query = { userID: record.userID, root: tree.root, expectedPublicKey: ANY_KEY };
        expect(verifyMerkleProof(proof, query)).to.deep.equal(proven);
        expect(verifyMerkleProof(bytesOf(proof), { ...query, expectedPublicKey: publicKey })).to.deep.equal(proven);
      }
    };

    for (const range of [
      [1, 8],
      [9, 16],
      [17, 33],
    ] as const) {
      it(`makes valid proofs for all records of ${range.join(" to ")} users`, () => {
        for (let count = range[0]; count <= range[1]; count++) {
          const file = makeMerkleFile(sampleRecords(count));
          provesAll(file, [...file.values.keys()]);
        }
      });
    }

    for (const count of [63, 64, 65, 127, 128, 129, 700, 1000, 1023, 1024, 1025, 4097]) {
      it(`makes valid proofs for a sample of records of ${count} users`, () => {
        const places = [0, 1, 2, count >> 1, (count >> 1) + 1, Math.ceil(count / 3), count - 3, count - 2, count - 1];
        provesAll(makeMerkleFile(sampleRecords(count)), places);
      });
    }

    it("makes proofs of at most 3 kB for 700 users", () => {
      const large = makeMerkleFile(sampleRecords(700));
      const sizes = large.records.map(({ userID }) => bytesOf(makeMerkleProof(large, userID)).length);
      expect(Math.max(...sizes)).to.be.at.most(3_000);
    });

    it("writes the keys in a fixed order", () => {
      const { value, siblings } = good;
      expect(Object.keys(good)).to.deep.equal(["format", "value", "siblings", "root"]);
      expect(good).to.deep.equal({ format: "keyroot-proof-v1", value, siblings, root });
      expect(value).to.equal(serializeKeyRecord(mine));
    });

    it("pairs the last node with itself if it has no sibling", () => {
      const [last] = file.records.slice(-1) as [KeyRecord];
      const [sibling] = makeMerkleProof(file, last.userID).siblings;
      expect(sibling).to.deep.equal({ side: "right", hash: sha256(serializeKeyRecord(last)) });
    });

    it("rejects a user who is not in the file", () => {
      for (const user of [sampleUserID(7), "", "__proto__"]) {
        expect(refusalOf(makeMerkleProof, file, user)).to.equal("record: USER_NOT_IN_FILE");
      }
    });

    it("throws an ArgumentError for a wrong file or user", () => {
      for (const value of [undefined, null, {}, [], "file", { ...file, tree: undefined }, { ...file, lookup: {} }]) {
        expect(refusalOf(makeMerkleProof, value as MerkleFile, userID)).to.equal("ARGUMENT_INVALID");
      }
      for (const value of [undefined, null, 7, {}]) {
        expect(refusalOf(makeMerkleProof, file, value as never)).to.equal("USER_ID_INVALID");
      }
    });
  });

  describe("parseMerkleProof", () => {
    it("returns the record without verifying the proof", () => {
      expect(parseMerkleProof(good)).to.deep.equal({ proof: good, record: mine });
      expect(parseMerkleProof(but({ root: "0".repeat(64) })).record).to.deep.equal(mine);
    });
  });

  describe("verifyMerkleProof for a valid proof", () => {
    it("accepts any spacing and order of keys", () => {
      const { root, siblings, value, format } = good;
      const text = JSON.stringify({ siblings, root, format, value }, null, 1);
      expect(check(new TextEncoder().encode(text))).to.deep.equal(check(good));
      const spaced = makeMerkleFile([mine, other]);
      const values = spaced.values.map((value) => ` ${value} `);
      const siblingHash = sha256(values[1] ?? "");
      const ours = { ...good, value: values[0], siblings: [{ side: "right", hash: siblingHash }] };
      const naive = sha256(sha256(values[0] ?? "") + siblingHash);
      expect(
        verifyMerkleProof({ ...ours, root: naive }, { userID, root: naive, expectedPublicKey: ANY_KEY }).record,
      ).to.deep.equal(mine);
    });

    it("rejects a query with a wrong field", () => {
      const queries: [string, unknown][] = [
        ["ARGUMENT_INVALID", undefined],
        ["ARGUMENT_INVALID", null],
        ["ARGUMENT_INVALID", userID],
        ["USER_ID_INVALID", { root, expectedPublicKey: ANY_KEY }],
        ["USER_ID_INVALID", { userID: 7, root, expectedPublicKey: ANY_KEY }],
        ...[undefined, "", `0x${root}`, root.toUpperCase(), root.slice(1)].map((wrong): [string, unknown] => [
          "HASH_INVALID",
          { userID, root: wrong, expectedPublicKey: ANY_KEY },
        ]),
        ["ARGUMENT_INVALID", { userID, root }],
        ["ARGUMENT_INVALID", { userID, root, expectedPublicKey: undefined }],
        ["ARGUMENT_INVALID", { userID, root, expectedPublicKey: mine.pubKey }],
        ["ARGUMENT_INVALID", { userID, root, expectedPublicKey: null }],
      ];
      for (const [code, query] of queries) {
        expect(refusalOf(verifyMerkleProof, good, query as ProofQuery)).to.equal(code);
      }
    });
  });

  describe("verifyMerkleProof for a changed proof", () => {
    const elsewhere = makeMerkleFile(
      sampleRecords(7, 2).map((record, i) => (i === 0 ? { ...record, userID } : record)),
    );
    const alien = makeMerkleProof(elsewhere, userID);

    it("rejects a published key other than the expected key", () => {
      for (const expectedPublicKey of [base64ToBytes(third.pubKey), new Uint8Array(), new Uint8Array(105)]) {
        const details = { expected: mine.pubKey, actual: bytesToBase64(expectedPublicKey) };
        expect(() => check(good, { expectedPublicKey }))
          .to.throw(VerificationError)
          .and.include({ step: "key", code: "KEY_MISMATCH", ...details });
      }
    });

    it("reports the expected and the actual value", () => {
      const details = { expected: root, actual: alien.root };
      expect(() => check(alien))
        .to.throw(VerificationError)
        .and.include({ step: "tree", code: "ROOT_MISMATCH", ...details });
      const user = { expected: third.userID, actual: userID };
      expect(() => check(good, { userID: third.userID }))
        .to.throw(VerificationError)
        .and.include({ step: "record", code: "USER_MISMATCH", ...user });
    });

    it("returns only the published record after random changes", () => {
      const known = JSON.stringify([good, alien, makeMerkleProof(file, other.userID)]);
      fc.assert(
        fc.property(fc.array(fc.oneof(mutation(known), swap(known)), { minLength: 1, maxLength: 3 }), (changes) => {
          const bytes = changes.reduce((text, change) => change(text), JSON.stringify(good));
          const proven: unknown[] = [];
          const code = refusalOf(() => proven.push(check(new TextEncoder().encode(bytes)).record));
          expect(proven).to.deep.equal(code === undefined ? [mine] : []);
        }),
        { numRuns: 3000 },
      );
    });
  });

  describe("verifyMerkleProof for a malformed proof", () => {
    const wrong = {
      undefined,
      null: null,
      "a string": JSON.stringify(good),
      "an array": [good],
      "an empty object": {},
    };
    for (const [name, proof] of Object.entries(wrong)) {
      it(`rejects ${name} with PROOF_SHAPE`, () => {
        expect(refusalOf(check, proof)).to.equal("file: PROOF_SHAPE");
      });
    }

    it("throws a short error without control characters", () => {
      for (const key of ["\u001b[31m", "x".repeat(10_000)]) {
        expect(() => check({ [key]: 1 }))
          .to.throw(VerificationError)
          .and.has.property("message")
          .that.matches(/^[ -~…]{1,300}$/);
      }
    });
  });
});
