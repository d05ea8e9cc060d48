import { expect } from "chai";
import fc from "fast-check";
import { type KeyRecord, serializeKeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { makeMerkleFile, type MerkleFile, serializeMerkleFile } from "../../../packages/keyroot/src/merkle/file.ts";
import { parseMerkleFile } from "../../../packages/keyroot/src/merkle/parseMerkleFile.ts";
import { refusalOf } from "../../support/refusalOf.ts";
import { sampleRecords, sampleUserID, sha256, textOf } from "../../support/samples.ts";
import { type PlainFile, plainFile } from "../../support/data/plainFile.ts";

const INHERITED = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];

const toBytes = (file: string | object) => Buffer.from(typeof file === "string" ? file : JSON.stringify(file));
const read = (file: string | object, root: string) => parseMerkleFile(toBytes(file), root);
/** Separates the root from the three keys of a file. */
const publish = ({ root, ...file }: ReturnType<typeof plainFile>) => ({ root, file });
/** Sets an own key, even `__proto__`. */
const setOwn = (object: object, key: string, value: unknown) =>
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });

describe("Merkle-tree file", () => {
  const records = sampleRecords(5).sort((a, b) => (a.userID < b.userID ? -1 : 1));
  const values = records.map(serializeKeyRecord);
  const [first, second] = records as [KeyRecord, KeyRecord, ...KeyRecord[]];
  const made = makeMerkleFile(records);
  const { root } = made.tree;
  const text = textOf(made);
  const leaf = sha256(values[0] ?? "");

  /** Reads the valid file after a change, under the valid root. */
  const changed = (change: (file: PlainFile) => unknown) => {
    const file = JSON.parse(text) as PlainFile;
    change(file);
    return refusalOf(() => read(file, root));
  };
  /** Reads the valid file with a part of its text replaced. */
  const rewritten = (from: string | RegExp, to: string) => {
    const other = text.replace(from, () => to);
    expect(other).to.not.equal(text);
    return refusalOf(() => read(other, root));
  };
  /** Reads the consistent file of these values under its own root. */
  const forged = (...values: string[]) => {
    const { root, file } = publish(plainFile(values));
    return refusalOf(() => read(file, root));
  };
  const nodeIn = (file: PlainFile, hash: string) => file.merkle[hash] as Record<string, unknown>;

  describe("makeMerkleFile", () => {
    it("sorts the records by user id in byte order", () => {
      fc.assert(
        fc.property(fc.shuffledSubarray(sampleRecords(20), { minLength: 20 }), (records) => {
          const { values, lookup } = makeMerkleFile(records);
          const ids = [...lookup.keys()];
          expect(ids).to.deep.equal(ids.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
          expect(values.map((value) => (JSON.parse(value) as KeyRecord).userID)).to.deep.equal(ids);
        }),
      );
    });

    it("does not change its argument, and writes only the three fields of a record", () => {
      const given = Object.freeze([{ ...second, name: "Bob" }, first]);
      expect(makeMerkleFile(given).values).to.deep.equal(values.slice(0, 2));
    });

    it("rejects two records of one user, a repeated record, and an empty array", () => {
      expect(refusalOf(() => makeMerkleFile([first, { ...second, userID: first.userID }]))).to.equal("DUPLICATE_USER");
      expect(refusalOf(() => makeMerkleFile([first, second, first]))).to.equal("DUPLICATE_VALUE");
      expect(refusalOf(() => makeMerkleFile([]))).to.equal("TREE_EMPTY");
    });

    it("rejects records that verifiers reject", () => {
      const make = (change: object) => refusalOf(() => makeMerkleFile([first, { ...second, ...change }]));
      expect(make({ userID: "bob" })).to.equal("USER_ID_INVALID");
      expect(make({ pubKey: "" })).to.equal("PUBLIC_KEY_LENGTH");
      expect(make({ keyID: undefined })).to.equal("RECORD_INVALID");
    });
  });

  describe("functions called from plain JavaScript", () => {
    it("reject arguments of the wrong type with an ArgumentError", () => {
      const others = [undefined, null, 7, "text", {}, { length: 1 }, new Set()];
      for (const value of others) {
        expect(refusalOf(() => makeMerkleFile(value as KeyRecord[]))).to.equal("ARGUMENT_INVALID");
        expect(refusalOf(() => [...serializeMerkleFile(value as MerkleFile)])).to.equal("ARGUMENT_INVALID");
        expect(refusalOf(() => parseMerkleFile(value as Uint8Array, root))).to.equal("ARGUMENT_INVALID");
      }
      for (const record of [undefined, null, 7, "text", [], {}, { ...first, keyID: 1n }]) {
        expect(refusalOf(() => makeMerkleFile([record as KeyRecord]))).to.equal("RECORD_INVALID");
      }
    });
  });

  describe("serializeMerkleFile", () => {
    it("writes the file that follows from the specification, with the key order of the deployed files", () => {
      for (const count of [1, 2, 3, 4, 5, 8, 13, 100]) {
        const file = makeMerkleFile(sampleRecords(count));
        expect(textOf(file)).to.equal(JSON.stringify(publish(plainFile(file.values)).file));
      }
    });

    it("writes a single record as both root and leaf", () => {
      const value = values[0] ?? "";
      expect(textOf(makeMerkleFile([first]))).to.equal(
        `{"merkle":{"root":"${leaf}","hashalgo":"sha256","leaves":1,"levels":1,` +
          `"${leaf}":{"type":"root","level":0,"left":"data","right":"data","parent":"root"}},` +
          `"values":[${JSON.stringify(value)}],"lookup":{"${first.userID}":0}}`,
      );
    });
  });

  describe("parseMerkleFile", () => {
    it("returns the file that was written", () => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(), (count, seed) => {
          const file = makeMerkleFile(sampleRecords(count, seed));
          expect(read(textOf(file), file.tree.root)).to.deep.equal(file);
        }),
      );
    });

    it("accepts the values in any order", () => {
      fc.assert(
        fc.property(fc.shuffledSubarray(values, { minLength: 1 }), (values) => {
          const { root, file } = publish(plainFile(values));
          const parsed = read(file, root);
          expect(parsed.values).to.deep.equal(values);
          expect(Object.fromEntries(parsed.lookup)).to.deep.equal(file.lookup);
        }),
      );
    });

    it("accepts records with any spacing and order of fields, because their exact bytes are hashed", () => {
      const reformatted = records.map(({ userID, ...key }) => JSON.stringify({ ...key, userID }, null, 1));
      const { root, file } = publish(plainFile(reformatted));
      expect(read(file, root)).to.deep.include({ values: reformatted, records });
    });

    it("accepts a file without any of the header keys of merkle", () => {
      const keys = ["root", "hashalgo", "leaves", "levels"];
      for (let subset = 0; subset < 16; subset++) {
        const plain = JSON.parse(text) as PlainFile;
        keys.forEach((key, i) => subset & (1 << i) && Reflect.deleteProperty(plain.merkle, key));
        expect(read(plain, root).values, String(subset)).to.deep.equal(plain.values);
      }
    });

    it("accepts the file with any spacing and order of keys", () => {
      const anyOrder = fc.infiniteStream(fc.nat());
      fc.assert(
        fc.property(anyOrder, fc.constantFrom("", " ", "\t", "\n", "\r\n "), (order, spacing) => {
          const text = JSON.stringify(shuffleKeys(JSON.parse(textOf(made)), order), null, spacing);
          const parsed = read(spacing + text + spacing, root);
          expect(parsed).to.deep.equal(made);
        }),
      );
    });

    it("requires the root as 64 lowercase hex digits", () => {
      const others = ["", `0x${root}`, root.toUpperCase(), root.slice(1), `${root}\n`, undefined, null] as string[];
      for (const other of others) {
        expect(refusalOf(() => read(text, other))).to.equal("HASH_INVALID");
      }
    });

    it("rejects a valid file under another root", () => {
      expect(refusalOf(() => read(text, sha256("another")))).to.equal("tree: ROOT_MISMATCH");
    });
  });

  describe("parseMerkleFile, for a forged file, rejects", () => {
    it("a repeated last value, which has the same root", () => {
      const twice = [...values, ...values.slice(-1)];
      expect(plainFile(twice).root).to.equal(root);
      expect(forged(...twice)).to.equal("file: DUPLICATE_VALUE");
    });

    it("a repeated value anywhere", () => {
      expect(forged(...values, ...values.slice(0, 1))).to.equal("file: DUPLICATE_VALUE");
    });

    it("two records of one user", () => {
      expect(forged(...values, serializeKeyRecord({ ...second, userID: first.userID }))).to.equal(
        "file: DUPLICATE_USER",
      );
      expect(forged(...values, JSON.stringify(first, null, 1))).to.equal("file: DUPLICATE_USER");
    });

    it("a value of two hashes, which has the same root as the larger tree", () => {
      const nodes = made.tree.hashes(1);
      const leaves = made.tree.hashes(0);
      const pairs = nodes.map((_, i) => `${leaves[2 * i]}${leaves[2 * i + 1] ?? leaves[2 * i]}`);
      expect(plainFile(pairs).root).to.equal(root);
      expect(forged(...pairs)).to.equal("file: VALUE_LOOKS_LIKE_NODE");
      expect(forged(...values, pairs[0] ?? "")).to.equal("file: VALUE_LOOKS_LIKE_NODE");
    });

    it("a malformed record, with the code of the record", () => {
      expect(forged("")).to.equal("file: JSON_INVALID");
      expect(forged("{}")).to.equal("file: RECORD_INVALID");
      expect(forged("\ud800")).to.equal("file: JSON_FORBIDDEN_TOKEN");
      expect(forged("[".repeat(100_000))).to.equal("file: JSON_TOO_DEEP");
      expect(forged(serializeKeyRecord({ ...first, userID: "bob" }))).to.equal("file: USER_ID_INVALID");
      expect(forged(serializeKeyRecord({ ...first, pubKey: "A".repeat(2e7) }))).to.equal("file: PUBLIC_KEY_LENGTH");
      for (const key of INHERITED) {
        expect(forged(JSON.stringify(setOwn({ ...first }, key, "x")))).to.equal("file: RECORD_INVALID");
      }
    });

    it("an empty array of values", () => {
      expect(changed((file) => (file.values = []))).to.equal("file: TREE_EMPTY");
    });
  });

  describe("parseMerkleFile, for a changed file, rejects", () => {
    it("a changed, removed, added or moved value", () => {
      const mismatch = "tree: ROOT_MISMATCH";
      expect(changed(({ values }) => (values[1] = `${String(values[1])} `))).to.equal(mismatch);
      expect(changed(({ values }) => values.pop())).to.equal(mismatch);
      expect(changed(({ values }) => values.push(serializeKeyRecord({ ...first, userID: sampleUserID(7) })))).to.equal(
        mismatch,
      );
      expect(changed(({ values }) => values.reverse())).to.equal(mismatch);
      expect(
        changed(({ values }) => values.splice(0, 1, serializeKeyRecord({ ...second, userID: first.userID }))),
      ).to.equal(mismatch);
    });

    it("a wrong or missing entry of lookup", () => {
      for (const index of [1, 5, 2 ** 53, "0", "", [0], {}]) {
        expect(changed(({ lookup }) => (lookup[first.userID] = index))).to.equal("file: LOOKUP_MISMATCH");
      }
      expect(changed((file) => (file.lookup = {}))).to.equal("file: LOOKUP_MISMATCH");
      expect(changed(({ lookup }) => Reflect.deleteProperty(lookup, first.userID))).to.equal("file: LOOKUP_MISMATCH");
      expect(changed(({ lookup }) => (lookup[sampleUserID(7)] = 0))).to.equal("file: LOOKUP_MISMATCH");
      expect(rewritten(`"${first.userID}":0`, `"${first.userID.toUpperCase()}":0`)).to.equal("file: LOOKUP_MISMATCH");
      expect(rewritten(`"${first.userID}":0`, `"__proto__":{"${first.userID}":0}`)).to.equal("file: LOOKUP_MISMATCH");
      for (const index of ["-1", "-0", "0.0", "0.5", "0e0", "1e3", "null", "true"]) {
        expect(rewritten(`"${first.userID}":0`, `"${first.userID}":${index}`)).to.equal("file: JSON_FORBIDDEN_TOKEN");
      }
    });

    it("any additional key, including inherited names", () => {
      for (const key of [...INHERITED, "", "x", "Root", "proof"]) {
        for (const value of [0, "", {}]) {
          expect(changed((file) => setOwn(file, key, value))).to.equal("file: FILE_UNKNOWN_KEY");
          expect(changed(({ merkle }) => setOwn(merkle, key, value))).to.equal("file: FILE_UNKNOWN_KEY");
          expect(changed(({ lookup }) => setOwn(lookup, key, value))).to.equal("file: FILE_UNKNOWN_KEY");
        }
        expect(changed((file) => setOwn(nodeIn(file, leaf), key, ""))).to.equal("file: FILE_UNKNOWN_KEY");
      }
    });

    it("a repeated key at any level", () => {
      const twice = [
        ['{"merkle"', '{"values":[],"merkle"'],
        ['{"root"', `{"root":"${sha256("another")}","root"`],
        [`"${leaf}":{`, `"${leaf}":{},"${leaf}":{`],
        ['"level":0', '"level":0,"level":0'],
        [`"${first.userID}":0`, `"${first.userID}":1,"${first.userID}":0`],
        ['{\\"userID\\"', '{\\"userID\\":\\"bob\\",\\"userID\\"'],
        ['"lookup":{', '"l\\u006fokup":{},"lookup":{'],
      ] as const;
      for (const [from, to] of twice) expect(rewritten(from, to)).to.equal("file: JSON_DUPLICATE_KEY");
    });

    it("a hash in upper case", () => {
      const upper = "file: HASH_NOT_LOWERCASE";
      expect(rewritten(`"${leaf}":{`, `"${leaf.toUpperCase()}":{`)).to.equal(upper);
      expect(rewritten(`"${leaf}":{`, `"${leaf.toUpperCase()}":{},"${leaf}":{`)).to.equal(upper);
      expect(rewritten(`"left":"${leaf}"`, `"left":"${leaf.toUpperCase()}"`)).to.equal(upper);
      expect(rewritten(`"root":"${root}"`, `"root":"${root.toUpperCase()}"`)).to.equal(upper);
      expect(rewritten(/"parent":"[0-9a-f]{64}"/, `"parent":"${sha256("x").toUpperCase()}"`)).to.equal(upper);
    });

    it("another hash algorithm", () => {
      for (const hashalgo of ["SHA256", "sha-256", "sha1", "", 0, ["sha256"]]) {
        expect(changed(({ merkle }) => (merkle["hashalgo"] = hashalgo))).to.equal("file: FILE_HASH_ALGORITHM");
      }
    });

    it("wrong counts of leaves or levels, and another root", () => {
      for (const key of ["leaves", "levels", "root"]) {
        for (const value of [0, 6, 64, "5", "", sha256("another"), {}]) {
          expect(changed(({ merkle }) => (merkle[key] = value))).to.equal("tree: TREE_MISMATCH");
        }
      }
    });

    it("any wrong field of any node", () => {
      const nodes = Object.keys((JSON.parse(text) as PlainFile).merkle).slice(4);
      const wrongFields: Record<string, unknown[]> = {
        type: ["leaf", "node", "root", "Leaf", "data", 0],
        level: [0, 1, 2, 3, 4, "0", ""],
        left: ["data", root, leaf, sha256("another"), "", 0],
        right: ["data", root, leaf, sha256("another"), "", 0],
        parent: ["root", root, leaf, sha256("another"), "", 0],
      };
      expect(nodes).to.have.length(5 + 3 + 2 + 1);
      for (const hash of nodes) {
        for (const [field, others] of Object.entries(wrongFields)) {
          for (const other of [...others, undefined]) {
            const code = changed((file) => {
              const node = nodeIn(file, hash);
              if (node[field] === other) file.merkle[hash] = {};
              else node[field] = other;
            });
            expect(code).to.equal("tree: TREE_MISMATCH");
          }
        }
      }
    });

    it("a removed, added or replaced node", () => {
      const another = { type: "leaf", level: 0, left: "data", right: "data", parent: root };
      expect(changed(({ merkle }) => Reflect.deleteProperty(merkle, leaf))).to.equal("tree: TREE_MISMATCH");
      expect(changed(({ merkle }) => (merkle[sha256("another")] = another))).to.equal("tree: TREE_MISMATCH");
      expect(changed(({ merkle }) => (merkle[leaf] = merkle[root]))).to.equal("tree: TREE_MISMATCH");
      expect(rewritten(`"${leaf}":{`, `"${sha256("another")}":{`)).to.equal("tree: TREE_MISMATCH");
    });

    it("a missing key, or a key with a value of another type", () => {
      for (const key of ["merkle", "values", "lookup"] as const) {
        const others = [undefined, 0, "", "{}", key === "values" ? {} : []];
        for (const value of others) expect(changed((file) => setOwn(file, key, value))).to.equal("file: FILE_SHAPE");
      }
      for (const other of ["0", '""', "[]", "{}", '["merkle","values","lookup"]']) {
        expect(refusalOf(() => read(other, root))).to.equal("file: FILE_SHAPE");
      }
      for (const value of [0, [], {}]) {
        expect(changed(({ values }) => (values[2] = value))).to.equal("file: FILE_SHAPE");
      }
    });

    it("a value of another type, or no value, in any place", () => {
      const places = placesIn(JSON.parse(text));
      expect(places.length).to.be.greaterThan(70);
      for (const place of places) {
        for (const other of [undefined, 0, 77, "", "x", "data", [], {}, [[]], { a: 1 }]) {
          const file = JSON.parse(text) as PlainFile;
          const [at, key] = place.reduce<[Record<string, unknown>, string]>(
            ([object, key], next) => [object[key] as Record<string, unknown>, next],
            [{ file }, "file"],
          );
          if (JSON.stringify(at[key]) === JSON.stringify(other)) continue;
          // A header key may be missing.
          if (other === undefined && /^merkle,(?:root|hashalgo|leaves|levels)$/.test(place.join())) continue;
          at[key] = other;
          expect(
            refusalOf(() => read(file, root)),
            place.join(),
          ).to.match(/^(file|tree): /);
        }
      }
    });
  });

  describe("parseMerkleFile, for damaged bytes, rejects", () => {
    const codeOf = (...parts: (string | number[])[]) =>
      refusalOf(() => parseMerkleFile(Buffer.concat(parts.map((part) => Buffer.from(part as string))), root));

    it("a byte-order mark", () => {
      expect(codeOf([0xef, 0xbb, 0xbf], text)).to.equal("file: JSON_FORBIDDEN_TOKEN");
      expect(codeOf([0xff, 0xfe], text)).to.equal("file: FILE_NOT_UTF8");
    });

    it("bytes that are not UTF-8", () => {
      const [head, tail] = [text.slice(0, 20), text.slice(20)];
      for (const bytes of [[0xff], [0x80], [0xc0, 0x80], [0xc3], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]]) {
        expect(codeOf(head, bytes, tail)).to.equal("file: FILE_NOT_UTF8");
      }
    });

    it("an escaped lone surrogate", () => {
      expect(rewritten('"lookup":{', '"lookup":{"\\ud800":0,')).to.equal("file: FILE_UNKNOWN_KEY");
      expect(rewritten('"values":["', '"values":["\\ud800')).to.equal("file: JSON_FORBIDDEN_TOKEN");
      expect(rewritten('"left":"data"', '"left":"\\udc00"')).to.equal("tree: TREE_MISMATCH");
    });

    it("anything except white space after the end", () => {
      expect(codeOf(text, " \t\r\n")).to.be.undefined;
      for (const tail of ["}", ",", "{}", "0", text]) expect(codeOf(text, tail)).to.equal("file: JSON_INVALID");
      for (const tail of ["\0", "x", ";", "\v"]) expect(codeOf(text, tail)).to.equal("file: JSON_FORBIDDEN_TOKEN");
    });

    it("a truncated file", () => {
      for (let length = 0; length < text.length; length++) {
        expect(codeOf(text.slice(0, length))).to.equal("file: JSON_INVALID");
      }
    });

    it("nesting deeper than that of a file, even 100,000 deep", () => {
      expect(rewritten('"left":"data"', '"left":[]')).to.equal("file: JSON_TOO_DEEP");
      for (const deep of ["[".repeat(100_000), '{"merkle":'.repeat(100_000), `{"merkle":${"[".repeat(100_000)}`]) {
        expect(codeOf(deep)).to.equal("file: JSON_TOO_DEEP");
      }
    });

    it("a file larger than the longest string", () => {
      expect(refusalOf(() => parseMerkleFile(new Uint8Array(2 ** 29 - 23), root))).to.equal("file: FILE_TOO_LARGE");
    });

    it("any changed, added or removed byte, unless the parsed file stays the same", () => {
      const good = Buffer.from(text);
      const anyEdit = fc.tuple(fc.nat(good.length - 1), fc.constantFrom(0, 1), fc.uint8Array({ maxLength: 1 }));
      fc.assert(
        fc.property(anyEdit, ([at, removed, added]) => {
          const bytes = Buffer.concat([good.subarray(0, at), added, good.subarray(at + removed)]);
          const code = refusalOf(() => parseMerkleFile(bytes, root));
          if (code === undefined) expect(parseMerkleFile(bytes, root)).to.deep.equal(made);
          else expect(code).to.match(/^(file|tree): /);
        }),
        { numRuns: 5000 },
      );
    });
  });
});

/** The paths of all places in a value. */
function placesIn(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, child]) => placesIn(child, [...path, key]))].filter(
    ({ length }) => length > 0,
  );
}

/** The same value with the keys of all objects in the order of these numbers. */
function shuffleKeys(value: unknown, order: Iterator<number>): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([key, child]) => [order.next().value as number, key, child] as const);
  return Object.fromEntries(
    entries.sort(([a], [b]) => a - b).map(([, key, child]) => [key, shuffleKeys(child, order)]),
  );
}
