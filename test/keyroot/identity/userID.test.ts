import { deriveUserID } from "keyroot/records";
import { expect } from "chai";
import fc from "fast-check";
import { createHmac } from "node:crypto";
import {
  isUserID,
  parseUserID,
  randomUserID,
  userIDFromBytes,
  userIDFromHex,
  userIDToHex,
} from "../../../packages/keyroot/src/identity/userID.ts";
import { userIDToBytes } from "../../../packages/keyroot/src/identity/userIDBytes.ts";
import { refusalOf } from "../../support/refusalOf.ts";

/** User ids in hex and in zBase32. The last id contains all 5-bit digits from 0 to 31. */
const VECTORS = [
  ["0000000000000000000000000000000000000000", "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"],
  ["ffffffffffffffffffffffffffffffffffffffff", "99999999999999999999999999999999"],
  ["00443214c74254b635cf84653a56d7c675be77df", "ybndrfg8ejkmcpqxot1uwisza345h769"],
] as const;

/** Encodes 160 bits in zBase32 with integer arithmetic. */
function toZBase32(hex: string): string {
  const digit = (i: number) => Number((BigInt(`0x${hex}`) >> BigInt(155 - 5 * i)) & 31n);
  return Array.from({ length: 32 }, (_, i) => "ybndrfg8ejkmcpqxot1uwisza345h769".charAt(digit(i))).join("");
}

const anyBytes = fc.uint8Array({ minLength: 20, maxLength: 20 });

describe("user ids", () => {
  const [hex, good] = VECTORS[2];

  describe("in hex, bytes and zBase32", () => {
    it("use the zBase32 alphabet", () => {
      for (const [hex, userID] of VECTORS) {
        expect(userIDFromHex(hex)).to.equal(userID).and.equal(toZBase32(hex));
        expect(userIDToHex(userID)).to.equal(hex);
      }
    });

    it("contain the same 160 bits in each form", () => {
      fc.assert(
        fc.property(anyBytes, (bytes) => {
          const hex = Buffer.from(bytes).toString("hex");
          const userID = userIDFromBytes(bytes);
          expect(userID).to.equal(toZBase32(hex)).and.equal(userIDFromHex(hex));
          expect(userIDToBytes(userID)).to.deep.equal(bytes);
          expect(userIDToHex(userID)).to.equal(hex);
          expect(parseUserID(userID)).to.equal(userID);
        }),
      );
    });
  });

  describe("parseUserID", () => {
    it("rejects other lengths, alphabets and cases", () => {
      const texts = ["", good.slice(1), `${good}y`, ` ${good}`, `${good}\n`, good.toUpperCase(), hex];
      const letters = ["l", "v", "0", "2", "é", "="].map((letter) => letter + good.slice(1));
      const others = [null, undefined, 0, 1n, [good], { length: 32 }, new String(good), Buffer.from(good)];
      for (const value of [...texts, ...letters, ...others]) {
        expect(isUserID(value)).to.be.false;
        expect(refusalOf(parseUserID, value)).to.equal("USER_ID_INVALID");
        expect(refusalOf(userIDToBytes, value as string)).to.equal("USER_ID_INVALID");
        expect(refusalOf(userIDToHex, value as string)).to.equal("USER_ID_INVALID");
      }
    });

    it("accepts only the 32 characters of the alphabet", () => {
      const characters = Array.from({ length: 2 ** 10 }, (_, code) => String.fromCharCode(code));
      for (const start of [0, 13, 31]) {
        const withCharacter = (character: string) => good.slice(0, start) + character + good.slice(start + 1);
        const taken = characters.filter((character) => isUserID(withCharacter(character)));
        expect(taken.join("")).to.equal("13456789abcdefghijkmnopqrstuwxyz");
        const isConverted = (character: string) => refusalOf(userIDToBytes, withCharacter(character)) === undefined;
        expect(characters.filter(isConverted)).to.deep.equal(taken);
      }
    });

    it("shows the value in the error message", () => {
      expect(() => parseUserID("Bob")).to.throw('A user id must be 32 lowercase zBase32 characters, but is "Bob".');
    });

    it("suggests userIDFromHex for an id in hex", () => {
      for (const convert of [parseUserID, userIDToBytes, userIDToHex])
        expect(() => convert(hex)).to.throw(`but is "${hex}". Use userIDFromHex.`);
    });
  });

  describe("userIDFromHex", () => {
    it("rejects all text except 40 hex digits", () => {
      const texts = ["", hex.slice(1), `${hex}0`, `${hex}00`, `0x${hex}`, `0x${hex.slice(2)}`, hex.toUpperCase()];
      for (const value of [...texts, `g${hex.slice(1)}`, `${hex}\n`, good, null, undefined, 0, [hex]]) {
        expect(refusalOf(userIDFromHex, value as string)).to.equal("USER_ID_INVALID");
      }
    });
  });

  describe("userIDFromBytes", () => {
    it("rejects values other than 20 bytes", () => {
      for (const value of [new Uint8Array(), new Uint8Array(19), new Uint8Array(21), Array(20).fill(0), good, null]) {
        expect(refusalOf(userIDFromBytes, value as Uint8Array)).to.equal("USER_ID_INVALID");
      }
    });
  });

  describe("randomUserID", () => {
    it("returns a different valid id each time", () => {
      const ids = new Set(Array.from({ length: 1000 }, randomUserID));
      expect(ids.size).to.equal(1000);
      expect([...ids].every(isUserID)).to.be.true;
    });
  });

  describe("deriveUserID", () => {
    const secret = Buffer.alloc(32, 7);

    it("returns the first 160 bits of HMAC-SHA-256 over the identifier in UTF-8", () => {
      const anySecret = fc.uint8Array({ minLength: 32, maxLength: 200 });
      const anyIdentifier = fc.string({ unit: "binary", minLength: 1 });
      fc.assert(
        fc.property(anySecret, anyIdentifier, (secret, identifier) => {
          const hmac = createHmac("sha256", secret).update(identifier, "utf8").digest("hex");
          expect(userIDToHex(deriveUserID(secret, identifier))).to.equal(hmac.slice(0, 40));
        }),
      );
    });

    it("returns different ids for different spellings", () => {
      const spellings = ["a@example.org", "A@example.org", " a@example.org", "\u00e9", "e\u0301"];
      expect(new Set(spellings.map((identifier) => deriveUserID(secret, identifier))).size).to.equal(spellings.length);
    });

    it("rejects a secret of fewer than 32 bytes", () => {
      for (const short of [new Uint8Array(), secret.subarray(1), "x".repeat(32), Array(32).fill(1), null, undefined]) {
        expect(refusalOf(deriveUserID, short as Uint8Array, "a")).to.equal("SECRET_TOO_SHORT");
      }
    });

    it("rejects an invalid identifier", () => {
      for (const identifier of ["", "\ud800", "a\udc00b", "\udc00\ud800", null, undefined, 7, ["a"]]) {
        expect(refusalOf(deriveUserID, secret, identifier as string)).to.equal("IDENTIFIER_INVALID");
      }
    });
  });
});
