import fc from "fast-check";
import type { JsonSchema, Operation } from "./operations.ts";

/** JSON values that are known to break services. */
const nastyText = fc.constantFrom(
  ...[
    "",
    " ",
    "\0",
    "a\0b",
    "\u0001",
    "\u007f",
    "\ud800",
    "\udc00x",
    "\uffff",
    "\u202e",
    "é",
    "e\u0301",
    "ﬁ",
    "👩‍👩‍👧‍👦",
    "'; DROP TABLE users; --",
    "$1",
    "%s%n",
    "\\",
    '"',
    "${7*7}",
    "../../etc/passwd",
    "__proto__",
    "null",
    "undefined",
    "NaN",
    "-1",
  ],
  "x".repeat(200),
  "x".repeat(201),
  "💚".repeat(100),
  "💚".repeat(101),
  "x".repeat(10_000),
);
/** Made once, because fast-check first makes a table of all 1,112,064 characters. */
const anyText = fc.string({ unit: "binary" });
const nasty = fc.oneof(
  nastyText.map((text) => JSON.stringify(text)),
  fc.string({ unit: "binary", maxLength: 210 }).map((text) => JSON.stringify(text)),
  fc.constantFrom(
    "0",
    "1",
    "-1",
    "1.5",
    "1e3",
    "1e999",
    "9007199254740993",
    "9".repeat(400),
    "null",
    "true",
    "[]",
    "{}",
    "[[]]",
    '{"a":{}}',
    "[".repeat(50),
    '"\\ud800"',
    '"\\u0000"',
    '"\\x"',
    '{"__proto__":{}}',
    '{"toString":1}',
  ),
);

/** Bodies for an operation: valid, almost valid, and arbitrary ones. */
export function anyBody({ body: { properties = {} } }: Operation, good: Record<string, unknown>): fc.Arbitrary<string> {
  const members = Object.entries(properties).map(([name, schema]) =>
    fc
      .oneof(
        { weight: 6, arbitrary: fc.constant(JSON.stringify(good[name])) },
        { weight: 3, arbitrary: ofSchema(schema).map((value) => JSON.stringify(value)) },
        { weight: 2, arbitrary: nasty },
        { weight: 1, arbitrary: fc.constant(undefined) },
      )
      .map((value) => (value === undefined ? [] : [`${JSON.stringify(name)}:${value}`])),
  );
  const names = fc.constantFrom(
    "__proto__",
    "constructor",
    "toString",
    "",
    "\0",
    "x".repeat(3000),
    ...Object.keys(properties),
  );
  const more = fc.tuple(names, nasty).map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  const object = fc
    .tuple(
      fc.tuple(...members),
      fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.array(more, { maxLength: 2 }) }),
    )
    .map(([known, extra]) => `{${[...known.flat(), ...extra].join(",")}}`);
  return fc.oneof(
    { weight: 10, arbitrary: object },
    { weight: 1, arbitrary: nasty },
    { weight: 1, arbitrary: anyText },
    { weight: 1, arbitrary: fc.json({ maxDepth: 6 }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "",
        "{",
        "}",
        "{}}",
        "\ufeff{}",
        "{'a':1}",
        "{}{}",
        "//",
        "[".repeat(8000),
        '{"a":'.repeat(2000),
      ),
    },
  );
}

/** Values that match a schema. */
function ofSchema({
  type,
  enum: choices,
  pattern,
  minLength = 0,
  maxLength,
  minimum,
  maximum,
  items,
  minItems = 0,
  maxItems = 10,
  properties,
  required = [],
}: JsonSchema): fc.Arbitrary<unknown> {
  if (choices !== undefined) return fc.constantFrom(...choices);
  if (type === "integer")
    return fc.integer({
      ...(minimum !== undefined && { min: minimum }),
      ...(maximum !== undefined && { max: maximum }),
    });
  if (type === "array" && items !== undefined)
    return fc.array(ofSchema(items), { minLength: minItems, maxLength: Math.min(maxItems, 10) });
  if (type === "object" && properties !== undefined) {
    const members = Object.entries(properties).map(([name, schema]) => [name, ofSchema(schema)] as const);
    return fc.record(Object.fromEntries(members), { requiredKeys: required });
  }
  if (type !== "string") throw new Error(`Add values of type ${type ?? "undefined"} here.`);
  const lengths = { minLength, ...(maxLength !== undefined && { maxLength }) };
  const text = fc.string({ unit: "grapheme", ...lengths });
  if (pattern === undefined) return text;
  const form = new RegExp(pattern, "u");
  // `stringMatching` knows no Unicode classes. Most texts match these, but few match any other pattern.
  if (pattern.includes("\\p{")) return text.filter((value) => form.test(value));
  return fc
    .stringMatching(form, maxLength === undefined ? {} : { maxLength })
    .filter((value) => value.length >= minLength);
}
