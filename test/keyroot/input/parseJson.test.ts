import { expect } from "chai";
import fc from "fast-check";
import { describeValue, isObject, printable } from "keyroot/internal/input";
import { parseJson } from "../../../packages/keyroot/src/input/parseJson.ts";
import { refusalOf } from "../../support/refusalOf.ts";

/** Objects, arrays, strings and whole numbers, with a nesting depth of at most 4. */
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

describe("untrusted JSON", () => {
  describe("parseJson", () => {
    it("parses allowed values in the same way as JSON.parse", () => {
      fc.assert(
        fc.property(anyValue, anySpacing, (value, spacing) => {
          const text = spacing + JSON.stringify(value, null, spacing) + spacing;
          expect(parseJson(text, 5)).to.deep.equal(JSON.parse(text));
        }),
      );
    });

    it("rejects all other kinds of values", () => {
      for (const token of ["null", "true", "false", "-1", "-0", "1.0", "1.5", "1e3", "1E3", "NaN", "Infinity", "'a'"]) {
        for (const text of [token, `[${token}]`, `{"a":${token}}`, `["null, -1.5e3", ${token}]`]) {
          expect(refusalOf(parseJson, text, 3), text).to.equal("JSON_FORBIDDEN_TOKEN");
        }
      }
      for (const text of ["\ufeff{}", "{}\u00a0", "[1]//", "{a:1}", "\0", "é"]) {
        expect(refusalOf(parseJson, text, 3), text).to.equal("JSON_FORBIDDEN_TOKEN");
      }
    });

    it("rejects every text that JSON.parse rejects", () => {
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
        expect(refusalOf(parseJson, text, 3), text).to.equal("JSON_INVALID");
      }
      fc.assert(
        fc.property(fc.string({ unit: fc.constantFrom(...Array.from('"\\:,{}[]1a ')) }), (text) => {
          const code = refusalOf(parseJson, text, 100);
          if (code === undefined) expect(parseJson(text, 100)).to.deep.equal(JSON.parse(text));
          else if (code === "JSON_INVALID") expect(() => JSON.parse(text) as unknown).to.throw(SyntaxError);
        }),
        { numRuns: 5000 },
      );
    });

    it("rejects a repeated key in an object", () => {
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
          expect(refusalOf(parseJson, text, 4), text).to.equal("JSON_DUPLICATE_KEY");
        }
      }
    });

    it("rejects a repeated key in random objects", () => {
      const anyObject = fc.dictionary(fc.string(), anyValue, { minKeys: 1, maxKeys: 4, noNullPrototype: true });
      fc.assert(
        fc.property(anyObject, fc.nat(), (object, n) => {
          const members = Object.entries(object).map(
            ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`,
          );
          const text = `{${[...members, members[n % members.length]].join(",")}}`;
          expect(refusalOf(parseJson, text, 6)).to.equal("JSON_DUPLICATE_KEY");
        }),
      );
    });

    it("accepts the same key in different objects", () => {
      parseJson('[{"a":1},{"a":1},{"b":{"a":{"a":1}}}]', 4);
    });

    it("treats __proto__ and other inherited names as ordinary keys", () => {
      const value = parseJson('{"__proto__":{"isAdmin":1},"constructor":2,"toString":3}', 2) as Record<string, unknown>;
      expect(Object.keys(value)).to.deep.equal(["__proto__", "constructor", "toString"]);
      expect(Object.getPrototypeOf(value)).to.equal(Object.prototype);
      expect(value["isAdmin"]).to.be.undefined;
    });

    it("limits the nesting of objects and arrays", () => {
      for (const [text, depth] of [
        ["1", 0],
        ["[]", 1],
        ["[[],[],{}]", 2],
        ['{"[[[":["[[["]}', 2],
        ["[[[]]]", 3],
      ] as const) {
        parseJson(text, depth);
        if (depth > 0) expect(refusalOf(parseJson, text, depth - 1), text).to.equal("JSON_TOO_DEEP");
      }
    });

    it("rejects text that is nested 100,000 levels deep", () => {
      for (const open of ["[", '{"a":', '[{"a":']) {
        expect(refusalOf(parseJson, open.repeat(100_000), 3)).to.equal("JSON_TOO_DEEP");
      }
      expect(refusalOf(parseJson, "]".repeat(100_000) + "[".repeat(100_000), 3)).to.equal("JSON_TOO_MANY_VALUES");
      expect(refusalOf(parseJson, "]".repeat(100) + "[".repeat(100), 3)).to.equal("JSON_INVALID");
    });

    it("limits the number of values by the text's size", () => {
      for (const item of ["{}", "[]", '""', "0", '"a"']) {
        const text = `[${Array.from({ length: 2 ** 16 }, () => item).join()}]`;
        expect(refusalOf(parseJson, text, 3), item).to.equal("JSON_TOO_MANY_VALUES");
      }
      const members = `{${Array.from({ length: 2 ** 16 }, (_, i) => `"${i}":0`).join()}}`;
      expect(refusalOf(parseJson, members, 3)).to.equal("JSON_TOO_MANY_VALUES");
    });

    it("limits the number of different name orders by the text's size", () => {
      const objects = (nameOf: (i: number, j: number) => string) =>
        `[${Array.from({ length: 1000 }, (_, i) => `{${Array.from({ length: 8 }, (_, j) => `"${nameOf(i, j)}":"${"x".repeat(60)}"`).join()}}`).join()}]`;
      expect(
        parseJson(
          objects((_, j) => `name ${j}`),
          3,
        ),
      ).to.have.lengthOf(1000);
      for (const nameOf of [
        (i: number, j: number) => `${i} ${j}`,
        // These are the same eight names in many orders.
        (i: number, j: number) => `${(j + (j % 2) * (i % 4) * 2 + Math.floor(i / 4) * 3) % 8} ${j > 5 ? i % 125 : 0}`,
      ]) {
        expect(refusalOf(parseJson, objects(nameOf), 3)).to.equal("JSON_TOO_MANY_VALUES");
      }
    });

    it("limits the number of numeric names by the text's size", () => {
      const objects = (name: string) =>
        `[${Array.from({ length: 1000 }, () => `{"${name}":"${"x".repeat(85)}"}`).join()}]`;
      for (const name of ["499", "0", "4294967294", "\\u0034\\u0039\\u0039", "4\\u0039"])
        expect(refusalOf(parseJson, objects(name), 3)).to.equal("JSON_TOO_MANY_VALUES");
      // A user id may begin with a digit, because it is too long for a number below 2^32.
      for (const name of ["3".repeat(32), "a499", "name"]) expect(parseJson(objects(name), 3)).to.have.lengthOf(1000);
    });

    it("rejects names without values in linear time", () => {
      for (const text of ['"a":'.repeat(100_000), `"${"a".repeat(100_000)}"${":".repeat(100_000)}`])
        expect(refusalOf(parseJson, text, 3)).to.equal("JSON_TOO_MANY_VALUES");
    });

    it("finds the end of a string after backslashes", () => {
      for (let count = 0; count < 20; count++) {
        const text = `["${"\\".repeat(count)}", "a"]`;
        expect(refusalOf(parseJson, text, 1)).to.equal(count % 2 === 0 ? undefined : "JSON_FORBIDDEN_TOKEN");
      }
    });

    it("rejects a million quotes and backslashes", () => {
      for (const text of ['"\\"'.repeat(1e6), "\\".repeat(3e6), `"${"\\".repeat(3e6)}`, '"'.repeat(3e6)]) {
        expect(refusalOf(parseJson, text, 1)).to.be.oneOf(["JSON_INVALID", "JSON_FORBIDDEN_TOKEN"]);
      }
    });

    it("rejects values that are not strings", () => {
      for (const value of [undefined, null, 1, {}, ["[]"], Buffer.from("[]")]) {
        expect(refusalOf(parseJson, value as string, 3)).to.equal("JSON_INVALID");
      }
    });
  });

  describe("isObject", () => {
    it("returns false for arrays and null", () => {
      expect([{}, Object.create(null)].every(isObject)).to.be.true;
      expect([[], null, undefined, 1, "{}", isObject].some(isObject)).to.be.false;
    });
  });

  describe("describeValue", () => {
    it("returns a short form of any value", () => {
      expect(describeValue('a"b')).to.equal('"a\\"b"');
      expect(describeValue("x".repeat(81))).to.equal(`"${"x".repeat(80)}…"`);
      expect([null, undefined, 7, 7n, true].map(describeValue).join()).to.equal("null,undefined,7,7,true");
      expect(describeValue(new Uint8Array(3))).to.equal("3 bytes");
      expect(describeValue([1])).to.equal("an array");
      expect(describeValue({ secret: 1 })).to.equal("a value of type object");
    });

    it("escapes control characters and invisible characters", () => {
      const hostile = "\u001b[2J \u009b2J \u0007 \u202e \u2028 \u200b \ud800 \u{e0041} \n";
      expect(describeValue(hostile)).to.match(/^[\x20-\x7e]+$/);
      expect(printable("\u009b2J é 漢 😀")).to.equal("\\u{9b}2J é 漢 😀");
    });

    it("escapes control characters in parseJson's error message", () => {
      expect(() => parseJson('["\u009b2J\u202e",]', 1)).to.throw(/^[\x20-\x7e]+$/);
    });
  });
});
