import { expect } from "chai";
import fc from "fast-check";
import { mock } from "node:test";
import { plainFile } from "../../support/data/plainFile.ts";
import { sampleRecords, textOf } from "../../support/samples.ts";
import { type KeyRecord, VerificationError } from "keyroot";
import { serializeKeyRecord } from "keyroot/records";
import { makeMerkleFile, parseMerkleFile } from "keyroot/merkle";
import { parseSerializedFile } from "../../../packages/keyroot/src/merkle/parseSerializedFile.ts";
import { verifyMerkleFile } from "../../../packages/keyroot/src/merkle/verifyMerkleFile.ts";
import { mutation, swap } from "../../support/data/mutations.ts";

/** Returns the file that a parser returns, or all visible parts of the error that it throws. */
function outcomeOf(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    const { step, code, message, expected, actual } = error;
    return { step, code, message, expected, actual };
  }
}

/** Parses a text with both functions, and compares the results. @returns true if the fast function accepts the text */
function compare(text: string, root: string): boolean {
  const complete = outcomeOf(() => verifyMerkleFile(text, root));
  expect(outcomeOf(() => parseMerkleFile(Buffer.from(text), root))).to.deep.equal(complete);
  const fast = parseSerializedFile(text, root);
  if (fast !== undefined) expect(fast).to.deep.equal(complete);
  return fast !== undefined;
}

/** Creates the file that the specification requires for these values, and returns its text and root. */
function fileOf(values: readonly string[]): [text: string, root: string] {
  const { root, ...file } = plainFile(values);
  return [JSON.stringify(file), root];
}

describe("parseSerializedFile", () => {
  const records = sampleRecords(8);
  const values = records.map(serializeKeyRecord);
  const [first, second] = records as [KeyRecord, KeyRecord, ...KeyRecord[]];

  it("parses files of any size in the same way as verifyMerkleFile", () => {
    for (const count of [1, 2, 3, 7, 255, 256, 257, 513]) {
      const file = makeMerkleFile(sampleRecords(count));
      expect(compare(textOf(file), file.tree.root), String(count)).to.equal(true);
      expect(textOf(file)).to.equal(fileOf(file.values)[0]);
    }
  });

  it("parses records in any order", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(values, { minLength: 1 }), (values) => {
        expect(compare(...fileOf(values))).to.equal(true);
      }),
    );
  });

  it("returns undefined for valid files in another form", () => {
    const [text, root] = fileOf(values);
    const spaced = JSON.stringify(JSON.parse(text), null, 1);
    const escaped = text.replace("pubKey", "pubK\\u0065y");
    for (const other of [`${text} `, ` ${text}`, `${text}\n`, spaced, escaped]) {
      expect(compare(other, root)).to.equal(false);
    }
  });

  it("returns undefined for records in another form", () => {
    const { userID, ...key } = first;
    const [text, root] = fileOf([JSON.stringify({ ...key, userID }, null, 1)]);
    expect(compare(text, root)).to.equal(false);
    expect(parseMerkleFile(Buffer.from(text), root).records).to.deep.equal([first]);
  });

  it("returns undefined for invalid files", () => {
    const [text, root] = fileOf(values);
    expect(compare(...fileOf([...values, values[7] ?? ""]))).to.equal(false);
    expect(compare(...fileOf([...values, serializeKeyRecord({ ...second, userID: first.userID })]))).to.equal(false);
    expect(compare(text, "0".repeat(64))).to.equal(false);
    for (const other of [
      `${text}}`,
      `\ufeff${text}`,
      text.slice(0, -1),
      text.repeat(2),
      `"values":[${text}`,
      `{,"values":[,}",}",`,
      "",
    ]) {
      expect(compare(other, root)).to.equal(false);
    }
  });

  it("stops at a value that is too short for a record", () => {
    const parse = mock.method(JSON, "parse");
    try {
      expect(parseSerializedFile(`{"values":[${'"{}",'.repeat(1000)}`, "0".repeat(64))).to.equal(undefined);
    } finally {
      parse.mock.restore();
    }
    expect(parse.mock.callCount()).to.equal(1);
  });

  it("agrees with verifyMerkleFile on every changed file", () => {
    const files = [1, 2, 3, 5, 8].map((count) => fileOf(values.slice(0, count)));
    const known = files.map(([text]) => text).join("");
    const change = fc.oneof(mutation(known), swap(known));
    fc.assert(
      fc.property(fc.constantFrom(...files), change, ([text, root], change) => {
        const changed = change(text);
        expect(compare(changed, root)).to.equal(changed === text);
      }),
      { numRuns: 500 },
    );
  });

  it("agrees with verifyMerkleFile on changed values with new hashes", () => {
    const change = fc.oneof(mutation(values.join("")), swap(values.join("")));
    fc.assert(
      fc.property(fc.nat(7), change, (at, change) => {
        compare(...fileOf(values.with(at, change(values[at] ?? ""))));
      }),
      { numRuns: 300 },
    );
  });

  it("leaves files with white space to verifyMerkleFile, which ignores what libraries add to Object.prototype", () => {
    const [text, root] = fileOf(values);
    const indented = JSON.stringify(JSON.parse(text), null, 1);
    const results: unknown[] = [];
    Object.defineProperty(Object.prototype, "tap", { value: () => 1, enumerable: true, configurable: true });
    try {
      results.push(parseSerializedFile(indented, root), verifyMerkleFile(indented, root).records.length);
    } finally {
      delete (Object.prototype as { tap?: unknown }).tap;
    }
    expect(results).to.deep.equal([undefined, records.length]);
  });
});
