import { base64 as oracle } from "@scure/base";
import { expect } from "chai";
import fc from "fast-check";
import { base64ToBytes, bytesToBase64 } from "../../../packages/keyroot/src/bytes/base64.ts";
import { portableBase64 } from "../../../packages/keyroot/src/bytes/base64.ts";
import { refusalOf } from "../../support/refusalOf.ts";

/** Checks a text with another library, which accepts only canonical base64. */
function isCanonical(text: string): boolean {
  try {
    return oracle.encode(oracle.decode(text)) === text;
  } catch {
    return false;
  }
}

describe("base64", () => {
  it("encodes and decodes the test vectors of RFC 4648", () => {
    const vectors = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
    for (const [length, text] of vectors.entries()) {
      expect(bytesToBase64(Buffer.from("foobar".slice(0, length)))).to.equal(text);
      expect(Buffer.from(base64ToBytes(text)).toString()).to.equal("foobar".slice(0, length));
    }
  });

  it("accepts only the canonical encoding of bytes", () => {
    const anyText = fc.string({ unit: fc.constantFrom(...Array.from("AQgwBEIMUYcgkosw048/+=-_ ")), maxLength: 12 });
    fc.assert(
      fc.property(anyText, (text) => {
        const canonical = isCanonical(text);
        expect(portableBase64.decode(text) !== undefined).to.equal(canonical);
        expect(refusalOf(base64ToBytes, text)).to.equal(canonical ? undefined : "BASE64_INVALID");
      }),
      { numRuns: 2000 },
    );
  });

  it("rejects any text in another form", () => {
    const texts = [
      "Zg",
      "Zg=",
      "Zh==",
      "Zm9=",
      "Zm8",
      "Z===",
      "====",
      "=",
      "Zm9v\n",
      " Zm9v",
      "Zm 9v",
      "Zm-_",
      "Zg==Zg==",
    ];
    for (const text of texts) expect(portableBase64.decode(text)).to.equal(undefined);
    for (const value of [...texts, null, undefined, 4, ["Zm9v"], Buffer.from("Zm9v")]) {
      expect(refusalOf(base64ToBytes, value)).to.equal("BASE64_INVALID");
    }
  });

  it("describes in its error how base64url and texts with spaces differ", () => {
    expect(() => base64ToBytes("Zm-_ ")).to.throw(
      'The text must be base64 with padding, + and / instead of - and _, and no spaces, but is "Zm-_ ".',
    );
  });

  it("encodes and decodes millions of characters", () => {
    const text = "A".repeat(20_000_000);
    for (const decode of [base64ToBytes, portableBase64.decode]) expect(decode(text)?.length).to.equal(15_000_000);
    expect(refusalOf(base64ToBytes, `${text}AAA*`)).to.equal("BASE64_INVALID");
    expect(portableBase64.decode(`${text}AAA*`)).to.equal(undefined);
  });
});
