import { expect } from "chai";
import fc from "fast-check";
import {
  checkKeyRecord,
  generateKeyPair,
  type KeyRecord,
  randomUserID,
  serializeKeyRecord,
  toKeyRecord,
} from "keyroot/internal/identity";
import { makeKeyRecord, parseKeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { refusalOf } from "../../support/refusalOf.ts";
import { samplePublicKeys, sampleRecords, sampleUserID, sha256 } from "../../support/samples.ts";
import { encode, IDENTITY } from "../../support/data/curve41417.ts";

describe("key records", () => {
  const [record, other] = sampleRecords(2) as [KeyRecord, KeyRecord];
  const { userID, pubKey, keyID } = record;
  const [publicKey] = samplePublicKeys as [Uint8Array];
  const text = serializeKeyRecord(record);

  describe("makeKeyRecord", () => {
    it("returns the user, the key and the key's id", () => {
      const keyID = Buffer.from(sha256(publicKey).slice(0, 32), "hex").toString("base64");
      const pubKey = Buffer.from(publicKey).toString("base64");
      expect(makeKeyRecord(userID, publicKey)).to.deep.equal({ userID, pubKey, keyID });
    });

    it("rejects an invalid user id or key", () => {
      expect(refusalOf(makeKeyRecord, "bob", publicKey)).to.equal("USER_ID_INVALID");
      expect(refusalOf(makeKeyRecord, userID, publicKey.subarray(1))).to.equal("PUBLIC_KEY_LENGTH");
      expect(refusalOf(makeKeyRecord, userID, encode(IDENTITY))).to.equal("PUBLIC_KEY_SMALL_ORDER");
    });
  });

  describe("serializeKeyRecord", () => {
    it("writes the three fields in a fixed order", () => {
      expect(text).to.equal(`{"userID":"${userID}","pubKey":"${pubKey}","keyID":"${keyID}"}`);
      expect(serializeKeyRecord({ keyID, pubKey, userID })).to.equal(text);
    });

    it("writes text that parseKeyRecord reads", () => {
      const made = makeKeyRecord(randomUserID(), generateKeyPair().publicKey);
      expect(parseKeyRecord(serializeKeyRecord(made))).to.deep.equal(made);
    });
  });

  describe("functions called from plain JavaScript", () => {
    it("throw an ArgumentError for arguments of the wrong type", () => {
      for (const value of [undefined, null, 7, "text", [], new Map()]) {
        expect(refusalOf(serializeKeyRecord, value as unknown as KeyRecord)).to.equal("RECORD_INVALID");
        expect(refusalOf(checkKeyRecord, value as unknown as KeyRecord)).to.be.oneOf([
          "ARGUMENT_INVALID",
          "BASE64_INVALID",
        ]);
        expect(refusalOf(makeKeyRecord, value as string, publicKey)).to.equal("USER_ID_INVALID");
        expect(refusalOf(makeKeyRecord, userID, value as unknown as Uint8Array)).to.equal("ARGUMENT_INVALID");
      }
      for (const value of [undefined, null, 7, [], {}]) {
        expect(refusalOf(parseKeyRecord, value as string)).to.equal("JSON_INVALID");
      }
    });
  });

  describe("parseKeyRecord", () => {
    it("accepts fields in any order with any spacing", () => {
      const fields = fc.shuffledSubarray(["userID", "pubKey", "keyID"], { minLength: 3 });
      fc.assert(
        fc.property(fields, fc.constantFrom("", " ", "\t", "\r\n  "), (keys, space) => {
          const members = keys.map((key) => `"${key}"${space}:${space}"${record[key as keyof KeyRecord]}"`);
          expect(parseKeyRecord(`${space}{${space}${members.join(`,${space}`)}}${space}`)).to.deep.equal(record);
        }),
      );
    });
  });

  describe("toKeyRecord", () => {
    it("accepts only an object with exactly three fields", () => {
      const heir = Object.assign(Object.create(record) as object, { a: "", b: "", c: "" });
      for (const value of [null, undefined, 7, text, [userID, pubKey, keyID], heir, Object.create(record), new Map()]) {
        expect(refusalOf(toKeyRecord, value)).to.equal("RECORD_INVALID");
      }
    });
  });

  describe("checkKeyRecord", () => {
    it("returns the bytes of the key", () => {
      expect(checkKeyRecord(record)).to.deep.equal(publicKey);
    });

    it("rejects an invalid key", () => {
      const bad = (key: Uint8Array) => () => checkKeyRecord({ ...record, pubKey: Buffer.from(key).toString("base64") });
      expect(refusalOf(bad(publicKey.with(0, 2)))).to.equal("PUBLIC_KEY_FORMAT");
      expect(refusalOf(bad(encode({ x: 1n, y: 1n })))).to.equal("PUBLIC_KEY_NOT_ON_CURVE");
      expect(refusalOf(bad(encode(IDENTITY)))).to.equal("PUBLIC_KEY_SMALL_ORDER");
    });

    it("rejects a key id that belongs to another key", () => {
      expect(refusalOf(checkKeyRecord, { ...record, keyID: other.keyID })).to.equal("KEY_ID_MISMATCH");
      expect(sampleUserID(1)).to.equal(other.userID);
    });
  });
});
