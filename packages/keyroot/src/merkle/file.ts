import { describeValue } from "../input/describeValue.ts";
import { ArgumentError, VerificationError, verifying } from "../errors.ts";
import { type KeyRecord, parseKeyRecord, serializeKeyRecord } from "../identity/keyRecord.ts";
import { isUserID, type UserID } from "../identity/userID.ts";
import { isObject, parseJson } from "../input/json.ts";
import { MerkleTree } from "./tree.ts";

/** What a Merkle-tree file holds: one record a user, in the order of the leaves. */
export interface MerkleFile {
  /** The exact texts that are hashed. */
  values: readonly string[];
  /** `values`, parsed. */
  records: readonly KeyRecord[];
  /** Where in `values` a user's record is. */
  lookup: ReadonlyMap<UserID, number>;
  tree: MerkleTree;
}

/** A node in the file's `merkle` object (specification, "Node object fields"). */
interface MerkleNode {
  type: "leaf" | "node" | "root";
  level: number;
  left: string;
  right: string;
  parent: string;
}

/** The keys of `merkle` that are not nodes. */
const HEADER = ["root", "hashalgo", "leaves", "levels"];
const NODE_FIELDS = ["type", "level", "left", "right", "parent"] as const;

/** The objects of a file stand three deep: file, `merkle`, node. */
const MAX_DEPTH = 3;
/** The longest text that V8 takes, and so the largest file that can be read: some 660,000 users. */
const MAX_FILE_BYTES = 2 ** 29 - 24;
const HASH = /^[0-9a-f]{64}$/;
/** Two hashes in a row: such a value's leaf would be the parent of two others. */
const LOOKS_LIKE_NODE = /^[0-9a-f]{128}$/;

/**
 * The file of some users' records: sorted by `userID`, in byte order.
 * @param records 1 to 1,000,000, one a user
 * @throws ArgumentError DUPLICATE_USER, DUPLICATE_VALUE, TREE_EMPTY, TREE_TOO_LARGE, and as `parseKeyRecord`
 */
export function makeMerkleFile(records: readonly KeyRecord[]): MerkleFile {
  const values = records.toSorted((a, b) => (a.userID < b.userID ? -1 : 1)).map(serializeKeyRecord);
  // A root is published for ever: what no verifier could read is not written.
  const sorted = values.map(parseKeyRecord);
  return { values, records: sorted, lookup: indexByUser(sorted, values), tree: new MerkleTree(values) };
}

/**
 * The file's text, piece by piece, so that a file of any size can be written: the keys in the order of the files in
 * use, without spaces.
 */
export function* serializeMerkleFile({ values, lookup, tree }: MerkleFile): Generator<string> {
  const { root, leafCount: leaves, height: levels } = tree;
  yield `{"merkle":${JSON.stringify({ root, hashalgo: "sha256", leaves, levels }).slice(0, -1)}`;
  for (const [hash, node] of nodesOf(tree)) yield `,"${hash}":${JSON.stringify(node)}`;
  yield `},"values":[`;
  for (const [i, value] of values.entries()) yield (i === 0 ? "" : ",") + JSON.stringify(value);
  yield `],"lookup":{`;
  for (const [userID, i] of lookup) yield `${i === 0 ? "" : ","}"${userID}":${i}`;
  yield "}}";
}

/**
 * Reads a file that nobody vouches for: rebuilds the whole tree from `values`, insists on one record a user, and on
 * `lookup` and `merkle` being exactly what follows from `values`.
 *
 * It checks the form of all records; what a key is worth tells `checkKeyRecord`.
 * @param root the root that the file must have: 64 hex digits in lower case, from the contract or the file's name
 * @throws VerificationError; step "file" where it is malformed: FILE_TOO_LARGE, FILE_NOT_UTF8, FILE_SHAPE,
 * FILE_UNKNOWN_KEY, HASH_NOT_LOWERCASE, FILE_HASH_ALGORITHM, VALUE_LOOKS_LIKE_NODE, DUPLICATE_VALUE, DUPLICATE_USER,
 * LOOKUP_MISMATCH, TREE_EMPTY, TREE_TOO_LARGE and as `parseJson` and `parseKeyRecord`; step "tree" where it is not the
 * tree it should be: ROOT_MISMATCH, TREE_MISMATCH
 * @throws ArgumentError HASH_INVALID
 */
export function parseMerkleFile(bytes: Uint8Array, root: string): MerkleFile {
  if (!HASH.test(root)) {
    const message = `${describeValue(root)} is not a root: expected 64 hex digits in lower case, without 0x.`;
    throw new ArgumentError("HASH_INVALID", message, { expected: HASH.source, actual: root });
  }
  const text = decodeUtf8(bytes);
  const file = verifying("file", "The file", () => parseJson(text, MAX_DEPTH));
  const { merkle, values, lookup } = parseShape(file);
  const records = parseValues(values);
  const index = verifying("file", "values", () => indexByUser(records, values));
  const tree = verifying("file", "values", () => new MerkleTree(values));
  if (tree.root !== root) {
    const message = `The file's values have the root ${tree.root}, expected was ${root}: the file was changed.`;
    throw new VerificationError("tree", "ROOT_MISMATCH", message, { expected: root, actual: tree.root });
  }
  compareLookup(lookup, index);
  compareMerkle(merkle, tree);
  return { values, records, lookup: index, tree };
}

/** The nodes of `merkle` by their hash: the leaves first, then level by level, the root last. */
function* nodesOf(tree: MerkleTree): Generator<[string, MerkleNode]> {
  const top = tree.height - 1;
  let children: readonly string[] = [];
  let nodes = tree.hashes(0);
  for (let level = 0; level <= top; level++) {
    const parents = level === top ? [] : tree.hashes(level + 1);
    for (const [i, hash] of nodes.entries()) {
      const left = children[2 * i] ?? "data";
      const right = children[2 * i + 1] ?? left;
      const parent = parents[i >> 1] ?? "root";
      const type = level === top ? "root" : level === 0 ? "leaf" : "node";
      yield [hash, { type, level, left, right, parent }];
    }
    children = nodes;
    nodes = parents;
  }
}

function indexByUser(records: readonly KeyRecord[], values: readonly string[]): Map<UserID, number> {
  const index = new Map<UserID, number>();
  for (const [i, { userID }] of records.entries()) {
    const first = index.get(userID);
    if (first !== undefined) {
      // CVE-2012-2459: as a lone last node is paired with itself, writing it twice leaves the root as it was.
      const code = values[first] === values[i] ? "DUPLICATE_VALUE" : "DUPLICATE_USER";
      const message = `The user ${userID} has two records: number ${first} and number ${i}, counted from 0.`;
      throw new ArgumentError(code, message, { expected: first, actual: i });
    }
    index.set(userID, i);
  }
  return index;
}

function decodeUtf8(bytes: Uint8Array): string {
  if (bytes.length > MAX_FILE_BYTES) {
    const message = `The file has ${bytes.length} bytes, at most ${MAX_FILE_BYTES} can be read.`;
    throw new VerificationError("file", "FILE_TOO_LARGE", message, { expected: MAX_FILE_BYTES, actual: bytes.length });
  }
  try {
    // A byte-order mark is kept, and is then no JSON: two readers must not differ in what they hash.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new VerificationError("file", "FILE_NOT_UTF8", "The file is not UTF-8.", { cause });
  }
}

interface FileShape {
  merkle: Record<string, unknown>;
  values: string[];
  lookup: Record<string, unknown>;
}

function parseShape(file: unknown): FileShape {
  if (!isObject(file)) throw shapeError("the file", "an object", file);
  const { merkle, values, lookup, ...others } = file;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw unknownKey("the file", unknown);
  if (!isObject(merkle)) throw shapeError("merkle", "an object", merkle);
  if (!isObject(lookup)) throw shapeError("lookup", "an object", lookup);
  if (!Array.isArray(values)) throw shapeError("values", "an array", values);
  const wrong = values.findIndex((value) => typeof value !== "string");
  if (wrong !== -1) throw shapeError(`values[${wrong}]`, "a string", values[wrong]);
  return { merkle, values: values as string[], lookup };
}

function parseValues(values: readonly string[]): KeyRecord[] {
  return values.map((value, i) => {
    if (LOOKS_LIKE_NODE.test(value)) {
      const message = `values[${i}] is two hashes in a row: its leaf would be the parent of two others.`;
      throw new VerificationError("file", "VALUE_LOOKS_LIKE_NODE", message, { actual: value });
    }
    return verifying("file", `values[${i}]`, () => parseKeyRecord(value));
  });
}

function compareLookup(lookup: Record<string, unknown>, index: ReadonlyMap<UserID, number>): void {
  const keys = Object.keys(lookup);
  for (const [userID, i] of index) {
    const key = keys[i];
    const actual = lookup[key === userID ? key : userID];
    if (actual === i) continue;
    const message = `lookup says ${describeValue(actual)} for the user ${userID}, whose record is values[${i}].`;
    throw new VerificationError("file", "LOOKUP_MISMATCH", message, { expected: i, actual });
  }
  if (keys.length === index.size) return;
  for (const key of keys) {
    if (index.has(key)) continue;
    if (!isUserID(key)) throw unknownKey("lookup", key);
    const message = `lookup names the user ${key}, who has no record in values.`;
    throw new VerificationError("file", "LOOKUP_MISMATCH", message, { actual: lookup[key] });
  }
}

function compareMerkle(merkle: Record<string, unknown>, tree: MerkleTree): void {
  const { root, hashalgo, leaves, levels } = merkle;
  if (hashalgo !== "sha256") {
    const message = `merkle.hashalgo is ${describeValue(hashalgo)} instead of "sha256".`;
    throw new VerificationError("file", "FILE_HASH_ALGORITHM", message, { expected: "sha256", actual: hashalgo });
  }
  expectSame("merkle.root", tree.root, root);
  expectSame("merkle.leaves", tree.leafCount, leaves);
  expectSame("merkle.levels", tree.height, levels);
  // Files have their nodes in this order, as a rule: a key that is there already is found faster than its equal.
  const keys = Object.keys(merkle);
  let count = 0;
  for (const [hash, expected] of nodesOf(tree)) {
    const key = keys[HEADER.length + count++];
    const actual = merkle[key === hash ? key : hash];
    if (actual === undefined) checkKeys(merkle);
    compareNode(hash, expected, actual);
  }
  const actual = keys.length - HEADER.length;
  if (actual === count) return;
  checkKeys(merkle);
  throw mismatch("The number of nodes in merkle", count, actual);
}

/** Finds the key of `merkle` that no file may have, in case there is one. */
function checkKeys(merkle: Record<string, unknown>): void {
  for (const key of Object.keys(merkle)) {
    if (HASH.test(key) || HEADER.includes(key)) continue;
    throw HASH.test(key.toLowerCase()) ? notLowercase("a key of merkle", key) : unknownKey("merkle", key);
  }
}

function compareNode(hash: string, expected: MerkleNode, actual: unknown): void {
  if (!isObject(actual)) throw mismatch(whereIs(hash), "a node", actual);
  for (const field of NODE_FIELDS) {
    if (actual[field] !== expected[field]) expectSame(`${whereIs(hash)}.${field}`, expected[field], actual[field]);
  }
  const fields = Object.keys(actual);
  if (fields.length === NODE_FIELDS.length) return;
  const unknown = fields.find((field) => !Object.hasOwn(expected, field));
  if (unknown !== undefined) throw unknownKey(whereIs(hash), unknown);
}

function whereIs(hash: string): string {
  return `merkle["${hash}"]`;
}

function expectSame(where: string, expected: string | number, actual: unknown): void {
  if (actual === expected) return;
  if (typeof actual === "string" && HASH.test(actual.toLowerCase()) && !HASH.test(actual))
    throw notLowercase(where, actual);
  throw mismatch(where, expected, actual);
}

function mismatch(where: string, expected: string | number, actual: unknown): VerificationError {
  const message = `${where} is ${describeValue(actual)}, from values follows ${describeValue(expected)}.`;
  return new VerificationError("tree", "TREE_MISMATCH", message, { expected, actual });
}

function notLowercase(where: string, actual: string): VerificationError {
  const message = `${where} is a hash in upper case: ${describeValue(actual)}. Hashes are lowercase hex.`;
  return new VerificationError("file", "HASH_NOT_LOWERCASE", message, { expected: actual.toLowerCase(), actual });
}

function shapeError(where: string, expected: string, actual: unknown): VerificationError {
  const message = `${where} must be ${expected}, it is ${describeValue(actual)}.`;
  return new VerificationError("file", "FILE_SHAPE", message, { expected, actual });
}

function unknownKey(where: string, actual: string): VerificationError {
  const message = `${where} has the key ${describeValue(actual)}, which does not belong there.`;
  return new VerificationError("file", "FILE_UNKNOWN_KEY", message, { actual });
}
