import { bytesToHex as portableBytesToHex } from "@noble/hashes/utils.js";
import { base64 as oracle } from "@scure/base";
import { expect } from "chai";
import fc from "fast-check";
import { base64, portableBase64 } from "../../../packages/keyroot/src/bytes/base64.ts";
import { bytesToHex, hexToBytes, portableHexToBytes } from "../../../packages/keyroot/src/bytes/hex.ts";
import { portableSha256Hex, sha256Hex } from "../../../packages/keyroot/src/bytes/sha256.ts";
import { sha256 } from "../../support/samples.ts";

/** Random bytes in their own array, in a part of a larger array, or in a Buffer. */
const anyBytes = fc
  .tuple(fc.uint8Array({ maxLength: 200 }), fc.nat(10), fc.boolean())
  .map(([bytes, start, isBuffer]) => (isBuffer ? Buffer.from(bytes) : bytes).subarray(start));

describe("functions on bytes", () => {
  it("encode hex and base64 in the same way as other libraries", () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        expect(bytesToHex(bytes)).to.equal(portableBytesToHex(bytes));
        const hex = portableBytesToHex(bytes);
        for (const digits of [hex, hex.toUpperCase()]) {
          expect(hexToBytes(digits)).to.deep.equal(Uint8Array.from(bytes)).and.deep.equal(portableHexToBytes(digits));
        }
        const text = oracle.encode(bytes);
        for (const { encode, decode } of [base64, portableBase64]) {
          expect(encode(bytes)).to.equal(text);
          expect(decode(text)).to.deep.equal(Uint8Array.from(bytes));
        }
      }),
      { numRuns: 500 },
    );
  });

  it("compute the same SHA-256 as Node", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(sha256Hex(text)).to.equal(sha256(text)).and.equal(portableSha256Hex(text));
        const bytes = new TextEncoder().encode(text);
        expect(sha256Hex(bytes)).to.equal(sha256(bytes)).and.equal(portableSha256Hex(bytes));
      }),
    );
  });

  it("hash bytes of every length around the size of a block in the same way as Node", () => {
    for (let length = 0; length <= 200; length++) {
      const bytes = new Uint8Array(length).map((_, i) => i);
      expect(portableSha256Hex(bytes), `${length} bytes`).to.equal(sha256(bytes));
    }
  });
});
