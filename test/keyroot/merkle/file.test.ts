import { expect } from "chai";
import fc from "fast-check";
import { type KeyRecord, serializeKeyRecord } from "../../../packages/keyroot/src/identity/keyRecord.ts";
import { makeMerkleFile, parseMerkleFile } from "../../../packages/keyroot/src/merkle/file.ts";
import { refusalOf } from "../../support/refusalOf.ts";
import { sampleRecords, sampleUserID, sha256, textOf } from "../../../fixtures/samples.ts";
import { type PlainFile, plainFile } from "../../../fixtures/plainFile.ts";

const INHERITED = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];

const toBytes = (file: string | object) => Buffer.from(typeof file === "string" ? file : JSON.stringify(file));
const read = (file: string | object, root: string) => parseMerkleFile(toBytes(file), root);
/** Files are taken or refused by their first three keys: a root beside them would be a fourth. */
const publish = ({ root, ...file }: ReturnType<typeof plainFile>) => ({ root, file });
/** Sets a key, and be it `__proto__`. */
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

  /** The good file after a change, held against the good root. */
  const changed = (change: (file: PlainFile) => unknown) => {
    const file = JSON.parse(text) as PlainFile;
    change(file);
    return refusalOf(() => read(file, root));
  };
  /** The good file with a piece of its text replaced. */
  const rewritten = (from: string | RegExp, to: string) => {
    const other = text.replace(from, () => to);
    expect(other).to.not.equal(text);
    return refusalOf(() => read(other, root));
  };
  /** A file of such values that is consistent in itself, under its own root. */
  const forged = (...values: string[]) => {
    const { root, file } = publish(plainFile(values));
    return refusalOf(() => read(file, root));
  };
  const nodeIn = (file: PlainFile, hash: string) => file.merkle[hash] as Record<string, unknown>;

  describe("makeMerkleFile", () => {
    it("sorts by user id in byte order, whatever order the records come in", () => {
      fc.assert(
        fc.property(fc.shuffledSubarray(sampleRecords(20), { minLength: 20 }), (records) => {
          const { values, lookup } = makeMerkleFile(records);
          const ids = [...lookup.keys()];
          expect(ids).to.deep.equal(ids.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
          expect(values.map((value) => (JSON.parse(value) as KeyRecord).userID)).to.deep.equal(ids);
        }),
      );
    });

    it("leaves the list that it was given alone, and writes nothing but a record's three fields", () => {
      const given = Object.freeze([{ ...second, name: "Bob" }, first]);
      expect(makeMerkleFile(given).values).to.deep.equal(values.slice(0, 2));
    });

    it("refuses two records of one user, the same record twice, and none at all", () => {
      expect(refusalOf(() => makeMerkleFile([first, { ...second, userID: first.userID }]))).to.equal("DUPLICATE_USER");
      expect(refusalOf(() => makeMerkleFile([first, second, first]))).to.equal("DUPLICATE_VALUE");
      expect(refusalOf(() => makeMerkleFile([]))).to.equal("TREE_EMPTY");
    });

    it("refuses records that no verifier could read", () => {
      const make = (change: object) => refusalOf(() => makeMerkleFile([first, { ...second, ...change }]));
      expect(make({ userID: "bob" })).to.equal("USER_ID_INVALID");
      expect(make({ pubKey: "" })).to.equal("PUBLIC_KEY_LENGTH");
      expect(make({ keyID: undefined })).to.equal("RECORD_INVALID");
    });
  });

  describe("serializeMerkleFile", () => {
    it("writes what the specification's rules give, key by key in the order of the files in use", () => {
      for (const count of [1, 2, 3, 4, 5, 8, 13, 100]) {
        const file = makeMerkleFile(sampleRecords(count));
        expect(textOf(file)).to.equal(JSON.stringify(publish(plainFile(file.values)).file));
      }
    });

    it("writes a lone record as root and leaf in one", () => {
      const value = values[0] ?? "";
      expect(textOf(makeMerkleFile([first]))).to.equal(
        `{"merkle":{"root":"${leaf}","hashalgo":"sha256","leaves":1,"levels":1,` +
          `"${leaf}":{"type":"root","level":0,"left":"data","right":"data","parent":"root"}},` +
          `"values":[${JSON.stringify(value)}],"lookup":{"${first.userID}":0}}`,
      );
    });
  });

  describe("parseMerkleFile", () => {
    it("reads what was written", () => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(), (count, seed) => {
          const file = makeMerkleFile(sampleRecords(count, seed));
          expect(read(textOf(file), file.tree.root)).to.deep.equal(file);
        }),
      );
    });

    it("takes the values in any order", () => {
      fc.assert(
        fc.property(fc.shuffledSubarray(values, { minLength: 1 }), (values) => {
          const { root, file } = publish(plainFile(values));
          const parsed = read(file, root);
          expect(parsed.values).to.deep.equal(values);
          expect(Object.fromEntries(parsed.lookup)).to.deep.equal(file.lookup);
        }),
      );
    });

    it("takes the records in any spacing and order of fields: their bytes are what is hashed", () => {
      const respelled = records.map(({ userID, ...key }) => JSON.stringify({ ...key, userID }, null, 1));
      const { root, file } = publish(plainFile(respelled));
      expect(read(file, root)).to.deep.include({ values: respelled, records });
    });

    it("takes the file in any spacing and order of keys", () => {
      const anyOrder = fc.infiniteStream(fc.nat());
      fc.assert(
        fc.property(anyOrder, fc.constantFrom("", " ", "\t", "\n", "\r\n "), (order, spacing) => {
          const text = JSON.stringify(shuffleKeys(JSON.parse(textOf(made)), order), null, spacing);
          const parsed = read(spacing + text + spacing, root);
          expect(parsed).to.deep.equal(made);
        }),
      );
    });

    it("wants the root as 64 hex digits in lower case", () => {
      const others = ["", `0x${root}`, root.toUpperCase(), root.slice(1), `${root}\n`, undefined, null] as string[];
      for (const other of others) {
        expect(refusalOf(() => read(text, other))).to.equal("HASH_INVALID");
      }
    });

    it("refuses a good file under another root", () => {
      expect(refusalOf(() => read(text, sha256("another")))).to.equal("tree: ROOT_MISMATCH");
    });
  });

  describe("a forged file is refused", () => {
    it("with its last value written twice, which has the same root", () => {
      const twice = [...values, ...values.slice(-1)];
      expect(plainFile(twice).root).to.equal(root);
      expect(forged(...twice)).to.equal("file: DUPLICATE_VALUE");
    });

    it("with a value twice anywhere", () => {
      expect(forged(...values, ...values.slice(0, 1))).to.equal("file: DUPLICATE_VALUE");
    });

    it("with two records of one user", () => {
      expect(forged(...values, serializeKeyRecord({ ...second, userID: first.userID }))).to.equal(
        "file: DUPLICATE_USER",
      );
      expect(forged(...values, JSON.stringify(first, null, 1))).to.equal("file: DUPLICATE_USER");
    });

    it("with two hashes in a row as a value, which has the same root as the larger tree", () => {
      const nodes = made.tree.hashes(1);
      const leaves = made.tree.hashes(0);
      const pairs = nodes.map((_, i) => `${leaves[2 * i]}${leaves[2 * i + 1] ?? leaves[2 * i]}`);
      expect(plainFile(pairs).root).to.equal(root);
      expect(forged(...pairs)).to.equal("file: VALUE_LOOKS_LIKE_NODE");
      expect(forged(...values, pairs[0] ?? "")).to.equal("file: VALUE_LOOKS_LIKE_NODE");
    });

    it("with a malformed record, by the record's own code", () => {
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

    it("with no values", () => {
      expect(changed((file) => (file.values = []))).to.equal("file: TREE_EMPTY");
    });
  });

  describe("a changed file is refused", () => {
    it("with a value changed, left out, added or moved", () => {
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

    it("with a lookup that points elsewhere, or nowhere", () => {
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

    it("with any further key, inherited names among them", () => {
      for (const key of [...INHERITED, "", "x", "Root", "proof"]) {
        for (const value of [0, "", {}]) {
          expect(changed((file) => setOwn(file, key, value))).to.equal("file: FILE_UNKNOWN_KEY");
          expect(changed(({ merkle }) => setOwn(merkle, key, value))).to.equal("file: FILE_UNKNOWN_KEY");
          expect(changed(({ lookup }) => setOwn(lookup, key, value))).to.equal("file: FILE_UNKNOWN_KEY");
        }
        expect(changed((file) => setOwn(nodeIn(file, leaf), key, ""))).to.equal("file: FILE_UNKNOWN_KEY");
      }
    });

    it("with a key twice, on every level", () => {
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

    it("with a hash in upper case", () => {
      const upper = "file: HASH_NOT_LOWERCASE";
      expect(rewritten(`"${leaf}":{`, `"${leaf.toUpperCase()}":{`)).to.equal(upper);
      expect(rewritten(`"${leaf}":{`, `"${leaf.toUpperCase()}":{},"${leaf}":{`)).to.equal(upper);
      expect(rewritten(`"left":"${leaf}"`, `"left":"${leaf.toUpperCase()}"`)).to.equal(upper);
      expect(rewritten(`"root":"${root}"`, `"root":"${root.toUpperCase()}"`)).to.equal(upper);
      expect(rewritten(/"parent":"[0-9a-f]{64}"/, `"parent":"${sha256("x").toUpperCase()}"`)).to.equal(upper);
    });

    it("with another hash algorithm, or none", () => {
      for (const hashalgo of ["SHA256", "sha-256", "sha1", "", 0, undefined, ["sha256"]]) {
        expect(changed(({ merkle }) => (merkle["hashalgo"] = hashalgo))).to.equal("file: FILE_HASH_ALGORITHM");
      }
    });

    it("with wrong counts of leaves or levels, or another root", () => {
      for (const key of ["leaves", "levels", "root"]) {
        for (const value of [0, 6, 64, "5", "", undefined, sha256("another"), {}]) {
          expect(changed(({ merkle }) => (merkle[key] = value))).to.equal("tree: TREE_MISMATCH");
        }
      }
    });

    it("with any lie about any node", () => {
      const nodes = Object.keys((JSON.parse(text) as PlainFile).merkle).slice(4);
      const lies: Record<string, unknown[]> = {
        type: ["leaf", "node", "root", "Leaf", "data", 0],
        level: [0, 1, 2, 3, 4, "0", ""],
        left: ["data", root, leaf, sha256("another"), "", 0],
        right: ["data", root, leaf, sha256("another"), "", 0],
        parent: ["root", root, leaf, sha256("another"), "", 0],
      };
      expect(nodes).to.have.length(5 + 3 + 2 + 1);
      for (const hash of nodes) {
        for (const [field, others] of Object.entries(lies)) {
          for (const lie of [...others, undefined]) {
            const refusal = changed((file) => {
              const node = nodeIn(file, hash);
              if (node[field] === lie) file.merkle[hash] = {};
              else node[field] = lie;
            });
            expect(refusal).to.equal("tree: TREE_MISMATCH");
          }
        }
      }
    });

    it("with a node left out, added, or exchanged for another", () => {
      const another = { type: "leaf", level: 0, left: "data", right: "data", parent: root };
      expect(changed(({ merkle }) => Reflect.deleteProperty(merkle, leaf))).to.equal("tree: TREE_MISMATCH");
      expect(changed(({ merkle }) => (merkle[sha256("another")] = another))).to.equal("tree: TREE_MISMATCH");
      expect(changed(({ merkle }) => (merkle[leaf] = merkle[root]))).to.equal("tree: TREE_MISMATCH");
      expect(rewritten(`"${leaf}":{`, `"${sha256("another")}":{`)).to.equal("tree: TREE_MISMATCH");
    });

    it("without one of its three keys, or with something else under it", () => {
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

    it("with something of another kind in any place, or nothing", () => {
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
          at[key] = other;
          expect(
            refusalOf(() => read(file, root)),
            place.join(),
          ).to.match(/^(file|tree): /);
        }
      }
    });
  });

  describe("damaged bytes are refused", () => {
    const refusal = (...parts: (string | number[])[]) =>
      refusalOf(() => parseMerkleFile(Buffer.concat(parts.map((part) => Buffer.from(part as string))), root));

    it("with a byte-order mark", () => {
      expect(refusal([0xef, 0xbb, 0xbf], text)).to.equal("file: JSON_FORBIDDEN_TOKEN");
      expect(refusal([0xff, 0xfe], text)).to.equal("file: FILE_NOT_UTF8");
    });

    it("when they are not UTF-8", () => {
      const [head, tail] = [text.slice(0, 20), text.slice(20)];
      for (const bytes of [[0xff], [0x80], [0xc0, 0x80], [0xc3], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]]) {
        expect(refusal(head, bytes, tail)).to.equal("file: FILE_NOT_UTF8");
      }
    });

    it("with half a surrogate pair as an escape", () => {
      expect(rewritten('"lookup":{', '"lookup":{"\\ud800":0,')).to.equal("file: FILE_UNKNOWN_KEY");
      expect(rewritten('"values":["', '"values":["\\ud800')).to.equal("file: JSON_FORBIDDEN_TOKEN");
      expect(rewritten('"left":"data"', '"left":"\\udc00"')).to.equal("tree: TREE_MISMATCH");
    });

    it("with anything but white space behind the end", () => {
      expect(refusal(text, " \t\r\n")).to.be.undefined;
      for (const tail of ["}", ",", "{}", "0", text]) expect(refusal(text, tail)).to.equal("file: JSON_INVALID");
      for (const tail of ["\0", "x", ";", "\v"]) expect(refusal(text, tail)).to.equal("file: JSON_FORBIDDEN_TOKEN");
    });

    it("cut short anywhere", () => {
      for (let length = 0; length < text.length; length++) {
        expect(refusal(text.slice(0, length))).to.equal("file: JSON_INVALID");
      }
    });

    it("deeper than a file is, and be it 100,000 deep", () => {
      expect(rewritten('"left":"data"', '"left":[]')).to.equal("file: JSON_TOO_DEEP");
      for (const deep of ["[".repeat(100_000), '{"merkle":'.repeat(100_000), `{"merkle":${"[".repeat(100_000)}`]) {
        expect(refusal(deep)).to.equal("file: JSON_TOO_DEEP");
      }
    });

    it("larger than a text can be", () => {
      expect(refusalOf(() => parseMerkleFile(new Uint8Array(2 ** 29 - 23), root))).to.equal("file: FILE_TOO_LARGE");
    });

    it("with any one byte changed, added or removed, unless it is white space and nothing is different", () => {
      const good = Buffer.from(text);
      const anyEdit = fc.tuple(fc.nat(good.length - 1), fc.constantFrom(0, 1), fc.uint8Array({ maxLength: 1 }));
      fc.assert(
        fc.property(anyEdit, ([at, removed, added]) => {
          const bytes = Buffer.concat([good.subarray(0, at), added, good.subarray(at + removed)]);
          const refusal = refusalOf(() => parseMerkleFile(bytes, root));
          if (refusal === undefined) expect(parseMerkleFile(bytes, root)).to.deep.equal(made);
          else expect(refusal).to.match(/^(file|tree): /);
        }),
        { numRuns: 5000 },
      );
    });
  });
});

/** The ways to all places in a value: keys, outermost first. */
function placesIn(value: unknown, way: string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [way];
  return [way, ...Object.entries(value).flatMap(([key, child]) => placesIn(child, [...way, key]))].filter(
    ({ length }) => length > 0,
  );
}

/** The same value with the keys of all its objects in the order that the numbers say. */
function shuffleKeys(value: unknown, order: Iterator<number>): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([key, child]) => [order.next().value as number, key, child] as const);
  return Object.fromEntries(
    entries.sort(([a], [b]) => a - b).map(([, key, child]) => [key, shuffleKeys(child, order)]),
  );
}
