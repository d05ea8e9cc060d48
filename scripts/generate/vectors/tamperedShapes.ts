import { rejected } from "./rejected.ts";
import { SampleFile, sampleRecord } from "./sampleFile.ts";
import type { Vector } from "./vector.ts";

/** Names that objects inherit in JavaScript. */
const INHERITED = ["__proto__", "constructor", "toString"];

/** Files that are JSON, but lack the three parts, the keys or the lookup of a file. */
export function tamperedShapes(): Vector[] {
  const file = new SampleFile(2);
  const { root, values } = file;
  const question = file.question();
  const [{ userID }, other] = [file.record(0), file.record(1)];
  const [leaf = "", otherLeaf = ""] = file.hashes();
  const stranger = sampleRecord(99).userID;
  const index = (token: string) => file.edited(`"${userID}":0`, `"${userID}":${token}`);

  return [
    ...rejected("file: FILE_SHAPE", question, [
      ["file-array", "an array", "[]"],
      ["file-string", "a text", '"merkle"'],
      ["file-number", "a number", "0"],
      ["file-empty-object", "an object without keys", "{}"],
      ["merkle-missing", "no merkle", file.withPart("merkle")],
      ["values-missing", "no values", file.withPart("values")],
      ["lookup-missing", "no lookup", file.withPart("lookup")],
      ["merkle-array", "merkle is an array", file.withPart("merkle", [])],
      ["merkle-string", "merkle is a text", file.withPart("merkle", "{}")],
      ["values-object", "values is an object", file.withPart("values", Object.fromEntries(values.entries()))],
      ["values-string", "values is one record", file.withPart("values", values[0])],
      ["lookup-array", "lookup is an array", file.withPart("lookup", [0, 1])],
      ["lookup-number", "lookup is a number", file.withPart("lookup", 0)],
      ["value-number", "a value is a number", file.withPart("values", [values[0], 1])],
      ["value-object", "a value is a record, not its text", file.withPart("values", [file.record(0), values[1]])],
    ]),
    ...rejected("file: FILE_UNKNOWN_KEY", question, [
      ["key-in-file", "a fourth key", file.withPart("proof", [])],
      ["key-empty", "an empty key", file.withPart("", 0)],
      ["key-in-merkle", "a key of merkle that is no hash", file.withKey("version", 1)],
      ["key-0x", "a hash with 0x beside the nodes", file.withKey(`0x${leaf}`, file.node(leaf))],
      ["key-short-hash", "a hash of 63 digits beside the nodes", file.withKey(leaf.slice(1), file.node(leaf))],
      ["key-line-feed", "a hash with a line feed beside the nodes", file.withKey(`${leaf}\n`, file.node(leaf))],
      ["key-in-node", "a sixth field of a node", file.withNode(leaf, { data: values[0] })],
      ["key-in-lookup", "a key of lookup that is no user id", file.withLookup({ bob: 0 })],
      ["key-upper-case-user", "a user once more in upper case", file.withLookup({ [userID.toUpperCase()]: 0 })],
      ["key-lone-surrogate", "half a surrogate pair as a key", file.edited('"lookup":{', '"lookup":{"\\ud800":0,')],
      ...INHERITED.flatMap((key): [string, string, string][] => [
        [`${key}-in-file`, `${key} as a fourth key`, file.edited('{"merkle"', `{"${key}":{},"merkle"`)],
        [`${key}-in-merkle`, `${key} as a key of merkle`, file.edited('{"root"', `{"${key}":{},"root"`)],
        [`${key}-in-node`, `${key} as a field of a node`, file.edited('{"type"', `{"${key}":"leaf","type"`)],
        [`${key}-in-lookup`, `${key} as a user`, file.edited('"lookup":{', `"lookup":{"${key}":0,`)],
      ]),
    ]),
    ...rejected("file: HASH_NOT_LOWERCASE", question, [
      [
        "upper-case-key",
        "a node under its hash in upper case",
        file.edited(`"${leaf}":{`, `"${leaf.toUpperCase()}":{`),
      ],
      ["upper-case-key-beside", "a node under both spellings", file.withKey(leaf.toUpperCase(), file.node(leaf))],
      ["upper-case-letter", "one letter of a hash in upper case", file.edited(`"${leaf}":{`, `"${mixedCase(leaf)}":{`)],
      ["upper-case-root", "merkle.root in upper case", file.withKey("root", root.toUpperCase())],
      ["upper-case-left", "a left hash in upper case", file.withNode(root, { left: leaf.toUpperCase() })],
      ["upper-case-right", "a right hash in upper case", file.withNode(root, { right: otherLeaf.toUpperCase() })],
      ["upper-case-parent", "a parent in upper case", file.withNode(otherLeaf, { parent: root.toUpperCase() })],
    ]),
    ...rejected("file: FILE_HASH_ALGORITHM", question, [
      ["hashalgo-upper-case", "hashalgo is SHA256", file.withKey("hashalgo", "SHA256")],
      ["hashalgo-hyphen", "hashalgo is sha-256", file.withKey("hashalgo", "sha-256")],
      ["hashalgo-weak", "hashalgo is md5", file.withKey("hashalgo", "md5")],
      ["hashalgo-number", "hashalgo is a number", file.withKey("hashalgo", 256)],
    ]),
    ...rejected("file: LOOKUP_MISMATCH", question, [
      ["lookup-redirected", "the user's index is another user's record", index("1")],
      ["lookup-swapped", "two users have each other's index", file.withLookup({ [userID]: 1, [other.userID]: 0 })],
      ["lookup-redirected-other", "another user's index is the user's record", file.withLookup({ [other.userID]: 0 })],
      ["lookup-out-of-range", "an index behind the last value", index("2")],
      ["lookup-2-to-32", "an index that is 0 in 32 bits", index("4294967296")],
      ["lookup-2-to-64", "an index that is 0 in 64 bits", index("18446744073709551616")],
      ["lookup-400-digits", "an index that no double holds", index("9".repeat(400))],
      ["lookup-string", "the right index as a text", index('"0"')],
      ["lookup-empty-string", "an empty text, which some take for 0", index('""')],
      ["lookup-in-array", "the right index in an array", index("[0]")],
      ["lookup-object", "an object for an index", index("{}")],
      ["lookup-without-user", "the user is not in lookup", file.edited(`"${userID}":0,`, "")],
      ["lookup-without-other", "another user is not in lookup", file.edited(`,"${other.userID}":1`, "")],
      ["lookup-empty", "nobody is in lookup", file.withPart("lookup", {})],
      ["lookup-extra-user", "a user without a record has another's index", file.withLookup({ [stranger]: 0 })],
      ["lookup-extra-index", "a user without a record has an index of no record", file.withLookup({ [stranger]: 2 })],
    ]),
  ];
}

function mixedCase(hash: string): string {
  return hash.replace(/[a-f]/, (letter) => letter.toUpperCase());
}
