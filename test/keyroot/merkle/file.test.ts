import { expect } from "chai";
import fc from "fast-check";
import { type KeyRecord } from "keyroot";
import { serializeKeyRecord } from "keyroot/records";
import { type MerkleFile, parseMerkleFile } from "keyroot/merkle";
import { makeMerkleFile, serializeMerkleFile } from "../../../packages/keyroot/src/merkle/file.ts";
import { refusalOf } from "../../support/refusalOf.ts";
import { sampleRecords, sha256, textOf } from "../../support/samples.ts";
import { type PlainFile, plainFile } from "../../support/data/plainFile.ts";

const toBytes = (file: string | object) => Buffer.from(typeof file === "string" ? file : JSON.stringify(file));
const read = (file: string | object, root: string) => parseMerkleFile(toBytes(file), root);
/** Separates the root from the file's other keys. */
const publish = ({ root, ...file }: ReturnType<typeof plainFile>) => ({ root, file });

describe("Merkle-tree files", () => {
  const records = sampleRecords(5).sort((a, b) => (a.userID < b.userID ? -1 : 1));
  const values = records.map(serializeKeyRecord);
  const [first, second] = records as [KeyRecord, KeyRecord, ...KeyRecord[]];
  const made = makeMerkleFile(records);
  const { root } = made.tree;
  const text = textOf(made);
  const leaf = sha256(values[0] ?? "");

  /** Changes the valid file, and parses the result with the valid root. */
  const changed = (change: (file: PlainFile) => unknown) => {
    const file = JSON.parse(text) as PlainFile;
    change(file);
    return refusalOf(read, file, root);
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

    it("writes only the three fields of a record", () => {
      const given = Object.freeze([{ ...second, name: "Bob" }, first]);
      expect(makeMerkleFile(given).values).to.deep.equal(values.slice(0, 2));
    });

    it("rejects repeated users, repeated records and an empty array", () => {
      expect(refusalOf(makeMerkleFile, [first, { ...second, userID: first.userID }])).to.equal("DUPLICATE_USER");
      expect(refusalOf(makeMerkleFile, [first, second, first])).to.equal("DUPLICATE_VALUE");
      expect(refusalOf(makeMerkleFile, [])).to.equal("TREE_EMPTY");
    });

    it("rejects records that verifiers reject", () => {
      const make = (change: object) => refusalOf(makeMerkleFile, [first, { ...second, ...change }]);
      expect(make({ userID: "bob" })).to.equal("USER_ID_INVALID");
      expect(make({ pubKey: "" })).to.equal("PUBLIC_KEY_LENGTH");
      expect(make({ keyID: undefined })).to.equal("RECORD_INVALID");
    });
  });

  describe("functions called from plain JavaScript", () => {
    it("throw an ArgumentError for arguments of the wrong type", () => {
      const others = [undefined, null, 7, "text", {}, { length: 1 }, new Set()];
      for (const value of others) {
        expect(refusalOf(makeMerkleFile, value as KeyRecord[])).to.equal("ARGUMENT_INVALID");
        expect(refusalOf(() => [...serializeMerkleFile(value as MerkleFile)])).to.equal("ARGUMENT_INVALID");
        expect(refusalOf(parseMerkleFile, value as Uint8Array, root)).to.equal("ARGUMENT_INVALID");
      }
      for (const record of [undefined, null, 7, "text", [], {}, { ...first, keyID: 1n }]) {
        expect(refusalOf(makeMerkleFile, [record as KeyRecord])).to.equal("RECORD_INVALID");
      }
    });
  });

  describe("serializeMerkleFile", () => {
    it("writes the file that the specification requires", () => {
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
    it("returns the file that serializeMerkleFile wrote", () => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(), (count, seed) => {
          const file = makeMerkleFile(sampleRecords(count, seed));
          expect(read(textOf(file), file.tree.root)).to.deep.equal(file);
        }),
      );
    });

    it("accepts any spacing and order of keys", () => {
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
        expect(refusalOf(read, text, other)).to.equal("HASH_INVALID");
      }
    });
  });

  describe("parseMerkleFile for a changed file", () => {
    it("rejects a wrong field in any node", () => {
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

    it("rejects a value of another type in any place", () => {
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
          expect(refusalOf(read, file, root), place.join()).to.match(/^(file|tree): /);
        }
      }
    });
  });

  describe("parseMerkleFile for damaged bytes", () => {
    it("rejects a file larger than the longest string", () => {
      expect(refusalOf(parseMerkleFile, new Uint8Array(2 ** 29 - 23), root)).to.equal("file: FILE_TOO_LARGE");
    });

    it("rejects any changed byte that affects the parsed file", () => {
      const good = Buffer.from(text);
      const anyEdit = fc.tuple(fc.nat(good.length - 1), fc.constantFrom(0, 1), fc.uint8Array({ maxLength: 1 }));
      fc.assert(
        fc.property(anyEdit, ([at, removed, added]) => {
          const bytes = Buffer.concat([good.subarray(0, at), added, good.subarray(at + removed)]);
          const code = refusalOf(parseMerkleFile, bytes, root);
          if (code === undefined) expect(parseMerkleFile(bytes, root)).to.deep.equal(made);
          else expect(code).to.match(/^(file|tree): /);
        }),
        { numRuns: 5000 },
      );
    });
  });
});

/** Returns the paths of all values inside a value. */
function placesIn(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, child]) => placesIn(child, [...path, key]))].filter(
    ({ length }) => length > 0,
  );
}

/** Returns the same value, but with the keys of all objects in a random order. */
function shuffleKeys(value: unknown, order: Iterator<number>): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([key, child]) => [order.next().value as number, key, child] as const);
  return Object.fromEntries(
    entries.sort(([a], [b]) => a - b).map(([, key, child]) => [key, shuffleKeys(child, order)]),
  );
}
