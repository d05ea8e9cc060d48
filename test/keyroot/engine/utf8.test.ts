import { expect } from "chai";
import fc from "fast-check";
import { decodeUtf8, encodeUtf8, isWellFormed, portableDecodeUtf8 } from "../../../packages/keyroot/src/engine/utf8.ts";
import { withoutGlobals } from "../../support/withoutGlobals.ts";

/** Decodes bytes with Node's decoder. Returns undefined for malformed bytes. */
function oracle(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function orUndefined(decode: (bytes: Uint8Array) => string, bytes: Uint8Array): string | undefined {
  try {
    return decode(bytes);
  } catch {
    return undefined;
  }
}

/** Bytes of a text with a few changes. Such bytes are often well-formed. */
const anyBytes = fc
  .tuple(fc.string({ unit: "binary" }), fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 2 }))
  .map(([text, changes]) => {
    const bytes = new TextEncoder().encode(text);
    for (const [at, byte] of changes) if (at < bytes.length) bytes[at] = byte;
    return bytes;
  });

describe("UTF-8 functions", () => {
  it("encode text in the same way as TextEncoder", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", "%", "é", "€", "😀", "\ud800", "\udfff") }), (text) => {
        expect(encodeUtf8(text)).to.deep.equal(new TextEncoder().encode(text));
        expect(isWellFormed(text)).to.equal(text.isWellFormed());
      }),
    );
  });

  it("decode or reject bytes in the same way as TextDecoder", () => {
    fc.assert(
      fc.property(fc.oneof(anyBytes, fc.uint8Array({ maxLength: 8 })), (bytes) => {
        expect(orUndefined(portableDecodeUtf8, bytes)).to.equal(oracle(bytes));
        expect(orUndefined(decodeUtf8, bytes)).to.equal(oracle(bytes));
      }),
      { numRuns: 2000 },
    );
  });

  const bytes = Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0xff);
  const decoders = {
    "without TextDecoder": undefined,
    "with a TextDecoder that rejects the fatal option": function () {
      throw new TypeError("The fatal option is unsupported.");
    },
    "with a TextDecoder that ignores the fatal option": class {
      readonly fatal = false;
      decode = () => "a wrong text";
    },
  };
  for (const [platform, TextDecoder] of Object.entries(decoders)) {
    it(`keep a byte-order mark on a platform ${platform}`, async () => {
      await withoutGlobals({ TextDecoder }, () => {
        expect(decodeUtf8(bytes.subarray(0, 4))).to.equal("\ufeff{");
        expect(() => decodeUtf8(bytes)).to.throw();
      });
    });
  }
});
