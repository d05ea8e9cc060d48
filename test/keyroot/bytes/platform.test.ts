import { bytesToHex as portableBytesToHex } from "@noble/hashes/utils.js";
import { base64 as portableBase64 } from "@scure/base";
import { expect } from "chai";
import fc from "fast-check";
import { base64, bytesToHex } from "../../../packages/keyroot/src/bytes/platform.ts";

/** Bytes as they come: also a part of a larger buffer, and Node's own kind. */
const anyBytes = fc
  .tuple(fc.uint8Array({ maxLength: 200 }), fc.nat(10), fc.boolean())
  .map(([bytes, start, isBuffer]) => (isBuffer ? Buffer.from(bytes) : bytes).subarray(start));

describe("platform", () => {
  it("spells bytes in hex and base64 as the portable functions do, and reads base64 as they do", () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        expect(bytesToHex(bytes)).to.equal(portableBytesToHex(bytes));
        const text = base64.encode(bytes);
        expect(text).to.equal(portableBase64.encode(bytes));
        expect(base64.decode(text)).to.deep.equal(portableBase64.decode(text)).and.deep.equal(Uint8Array.from(bytes));
      }),
      { numRuns: 500 },
    );
  });
});
