import { expect } from "chai";
import fc from "fast-check";
import { describeValue, printable } from "../../../packages/keyroot/src/input/describeValue.ts";
import { isObject, parseJson } from "../../../packages/keyroot/src/input/json.ts";
import { refusalOf } from "../../support/refusalOf.ts";

/** Objects, arrays, texts and whole numbers, up to 4 deep. */
const { anyValue } = fc.letrec<{ anyValue: unknown }>((tie) => ({
  anyValue: fc.oneof(
    { maxDepth: 4 },
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom(...Array.from('"\\:,{}[]-.en1')) }),
    fc.maxSafeNat(),
    fc.array(tie("anyValue"), { maxLength: 4 }),
    fc.dictionary(fc.string(), tie("anyValue"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const anySpacing = fc.constantFrom("", " ", "\t", "\n", " \r\n");

describe("JSON from outside", () => {
  describe("parseJson", () => {
    it("reads objects, arrays, texts and whole numbers as JSON.parse does, in any spacing", () => {
      fc.assert(
        fc.property(anyValue, anySpacing, (value, spacing) => {
          const text = spacing + JSON.stringify(value, null, spacing) + spacing;
          expect(parseJson(text, 5)).to.deep.equal(JSON.parse(text));
        }),
      );
    });

    it("refuses all other tokens", () => {
      for (const token of ["null", "true", "false", "-1", "-0", "1.0", "1.5", "1e3", "1E3", "NaN", "Infinity", "'a'"]) {
        for (const text of [token, `[${token}]`, `{"a":${token}}`, `["null, -1.5e3", ${token}]`]) {
          expect(
            refusalOf(() => parseJson(text, 3)),
            text,
          ).to.equal("JSON_FORBIDDEN_TOKEN");
        }
      }
      for (const text of ["\ufeff{}", "{}\u00a0", "[1]//", "{a:1}", "\0", "é"]) {
        expect(
          refusalOf(() => parseJson(text, 3)),
          text,
        ).to.equal("JSON_FORBIDDEN_TOKEN");
      }
    });

    it("refuses what JSON.parse refuses", () => {
      for (const text of [
        "",
        " ",
        "{",
        "}",
        "]",
        "[1,]",
        "{,}",
        '{"a"}',
        "[01]",
        "1 2",
        '"',
        '"\\',
        '"\\"',
        '"\\x"',
        '"\n"',
        "[]]",
        "}{",
        ":::",
      ]) {
        expect(
          refusalOf(() => parseJson(text, 3)),
          text,
        ).to.equal("JSON_INVALID");
      }
      fc.assert(
        fc.property(fc.string({ unit: fc.constantFrom(...Array.from('"\\:,{}[]1a ')) }), (text) => {
          const refusal = refusalOf(() => parseJson(text, 100));
          if (refusal === undefined) expect(parseJson(text, 100)).to.deep.equal(JSON.parse(text));
          else if (refusal === "JSON_INVALID") expect(() => JSON.parse(text) as unknown).to.throw(SyntaxError);
        }),
        { numRuns: 5000 },
      );
    });

    it("refuses a key that stands twice in one object, wherever and however it is written", () => {
      const twice = [
        '"a":1,"a":1',
        '"a":1,"b":2,"a":3',
        '"a":1,"\\u0061":1',
        '"__proto__":1,"__proto__":1',
        '"":1,"":1',
        '"a":{"b":1},"a":{"b":1}',
      ];
      for (const members of twice) {
        for (const text of [`{${members}}`, `[[{${members}}]]`, `{"c":{${members}}}`, `{"c:":[":",{${members}}]}`]) {
          expect(
            refusalOf(() => parseJson(text, 4)),
            text,
          ).to.equal("JSON_DUPLICATE_KEY");
        }
      }
    });

    it("refuses any object of which one member is repeated", () => {
      const anyObject = fc.dictionary(fc.string(), anyValue, { minKeys: 1, maxKeys: 4, noNullPrototype: true });
      fc.assert(
        fc.property(anyObject, fc.nat(), (object, n) => {
          const members = Object.entries(object).map(
            ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`,
          );
          const text = `{${[...members, members[n % members.length]].join(",")}}`;
          expect(refusalOf(() => parseJson(text, 6))).to.equal("JSON_DUPLICATE_KEY");
        }),
      );
    });

    it("takes the same key in different objects", () => {
      parseJson('[{"a":1},{"a":1},{"b":{"a":{"a":1}}}]', 4);
    });

    it("reads __proto__ and other inherited names as keys like any other", () => {
      const value = parseJson('{"__proto__":{"isAdmin":1},"constructor":2,"toString":3}', 2) as Record<string, unknown>;
      expect(Object.keys(value)).to.deep.equal(["__proto__", "constructor", "toString"]);
      expect(Object.getPrototypeOf(value)).to.equal(Object.prototype);
      expect(value["isAdmin"]).to.be.undefined;
    });

    it("counts how many objects and arrays stand inside each other", () => {
      for (const [text, depth] of [
        ["1", 0],
        ["[]", 1],
        ["[[],[],{}]", 2],
        ['{"[[[":["[[["]}', 2],
        ["[[[]]]", 3],
      ] as const) {
        parseJson(text, depth);
        if (depth > 0)
          expect(
            refusalOf(() => parseJson(text, depth - 1)),
            text,
          ).to.equal("JSON_TOO_DEEP");
      }
    });

    it("refuses what is 100,000 deep", () => {
      for (const open of ["[", '{"a":', '[{"a":']) {
        expect(refusalOf(() => parseJson(open.repeat(100_000), 3))).to.equal("JSON_TOO_DEEP");
      }
      expect(refusalOf(() => parseJson("]".repeat(100_000) + "[".repeat(100_000), 3))).to.equal("JSON_INVALID");
    });

    it("finds the end of a text after any number of backslashes", () => {
      for (let count = 0; count < 20; count++) {
        const text = `["${"\\".repeat(count)}", "a"]`;
        expect(refusalOf(() => parseJson(text, 1))).to.equal(count % 2 === 0 ? undefined : "JSON_FORBIDDEN_TOKEN");
      }
    });

    it("judges a million quotes and backslashes in no time", () => {
      for (const text of ['"\\"'.repeat(1e6), "\\".repeat(3e6), `"${"\\".repeat(3e6)}`, '"'.repeat(3e6)]) {
        expect(refusalOf(() => parseJson(text, 1))).to.be.oneOf(["JSON_INVALID", "JSON_FORBIDDEN_TOKEN"]);
      }
    });
  });

  describe("isObject", () => {
    it("tells objects from arrays, null and all else", () => {
      expect([{}, Object.create(null)].every(isObject)).to.be.true;
      expect([[], null, undefined, 1, "{}", isObject].some(isObject)).to.be.false;
    });
  });

  describe("describeValue", () => {
    it("quotes text and cuts it, counts bytes, and names all else by its type", () => {
      expect(describeValue('a"b')).to.equal('"a\\"b"');
      expect(describeValue("x".repeat(81))).to.equal(`"${"x".repeat(80)}…"`);
      expect([null, undefined, 7, 7n, true].map(describeValue).join()).to.equal("null,undefined,7,7,true");
      expect(describeValue(new Uint8Array(3))).to.equal("3 bytes");
      expect(describeValue([1])).to.equal("An array");
      expect(describeValue({ secret: 1 })).to.equal("A value of type object");
    });

    it("lets nothing through that steers a terminal or cannot be seen", () => {
      const hostile = "\u001b[2J \u009b2J \u0007 \u202e \u2028 \u200b \ud800 \u{e0041} \n";
      expect(describeValue(hostile)).to.match(/^[\x20-\x7e]+$/);
      expect(printable("\u009b2J é 漢 😀")).to.equal("\\u{9b}2J é 漢 😀");
    });

    it("keeps such characters out of the message about a text that is not JSON", () => {
      expect(() => parseJson('["\u009b2J\u202e",]', 1)).to.throw(/^[\x20-\x7e]+$/);
    });
  });
});
