import { describeValue } from "../input/describeValue.ts";
import { ArgumentError, VerificationError } from "../errors.ts";
import { type KeyRecord, parseKeyRecord, serializeKeyRecord } from "../identity/keyRecord.ts";
import { isUserID, type UserID } from "../identity/userID.ts";
import { checkUntrusted } from "../input/checkUntrusted.ts";
import { parseDocument } from "../input/document.ts";
import { isObject } from "../input/json.ts";
import { invalidArgument } from "../input/options.ts";
import { ShapeChecker } from "../input/shapeChecker.ts";
import { checkMerkleRoot, checkNotNode, MERKLE_ROOT } from "./hash.ts";
import { MerkleTree } from "./tree.ts";

/** The content of a Merkle-tree file: one record per user, in the order of the leaves. */
export interface MerkleFile {
  /** The exact texts that are hashed as leaves. */
  values: readonly string[];
  /** The records in `values`, parsed. */
  records: readonly KeyRecord[];
  /** The index in `values` of each user's record. */
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

/** The keys of a file, and the keys of its `merkle` object that are not nodes. */
const FILE_KEYS = ["merkle", "values", "lookup"] as const;
const HEADER_KEYS = ["root", "hashalgo", "leaves", "levels"];
const NODE_FIELDS = ["type", "level", "left", "right", "parent"] as const;

/**
 * The limits of a file. The size is that of the longest string in V8, about 660,000 users. The depth counts the file,
 * `merkle` and a node.
 */
const LIMITS = { maxBytes: 2 ** 29 - 24, maxDepth: 3 };

const shape = new ShapeChecker((message, details) => new VerificationError("file", "FILE_SHAPE", message, details));

/**
 * Makes the file of these users' records, sorted by `userID` in byte order.
 * @param records 1 to 1,000,000 records, one per user
 * @throws ArgumentError DUPLICATE_USER, DUPLICATE_VALUE, TREE_EMPTY, TREE_TOO_LARGE, ARGUMENT_INVALID, and as
 * `parseKeyRecord`
 * @example
 * const file = makeMerkleFile(records);
 * await writeFile(`${file.tree.root}.json`, serializeMerkleFile(file));
 */
export function makeMerkleFile(records: readonly KeyRecord[]): MerkleFile {
  if (!Array.isArray(records)) throw invalidArgument("The argument records", "an array of key records", records);
  // Texts with the ids in front, all equally long: their order is the order of the ids.
  // Not `map`, which skips the holes of an array.
  const values = Array.from(records as readonly KeyRecord[], (record) => serializeKeyRecord(record)).sort();
  // Parses the texts again, so that the file contains only what every verifier accepts.
  const parsed = values.map(parseKeyRecord);
  return { values, records: parsed, lookup: indexByUser(parsed, values), tree: new MerkleTree(values) };
}

/**
 * Writes a file as JSON in pieces, so that a file of any size can be written. The order of the keys is that of the
 * deployed files, without spaces.
 * @throws ArgumentError ARGUMENT_INVALID
 * @example
 * const text = [...serializeMerkleFile(file)].join("");
 */
export function* serializeMerkleFile(file: MerkleFile): Generator<string> {
  const { values, lookup, tree } = checkMerkleFile(file);
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
 * Parses and verifies a file from an untrusted source. Rebuilds the whole tree from `values`, and requires one record per
 * user, the given root, and exactly the `lookup` and `merkle` that follow from `values`. Checks the form of all records;
 * `checkKeyRecord` checks the key in a record.
 * @param bytes the file as it was served
 * @param root the root from the contract or the file's name: 64 lowercase hex digits
 * @throws VerificationError, step "file": FILE_TOO_LARGE, FILE_NOT_UTF8, FILE_SHAPE, FILE_UNKNOWN_KEY,
 * HASH_NOT_LOWERCASE, FILE_HASH_ALGORITHM, VALUE_LOOKS_LIKE_NODE, DUPLICATE_VALUE, DUPLICATE_USER, LOOKUP_MISMATCH,
 * TREE_EMPTY, TREE_TOO_LARGE, and as `parseJson` and `parseKeyRecord`; step "tree": ROOT_MISMATCH, TREE_MISMATCH
 * @throws ArgumentError HASH_INVALID, ARGUMENT_INVALID
 * @example
 * const { records, lookup } = parseMerkleFile(await readFile(`${root}.json`), root);
 */
export function parseMerkleFile(bytes: Uint8Array, root: string): MerkleFile {
  checkMerkleRoot(root);
  if (!(bytes instanceof Uint8Array)) throw invalidArgument("The argument bytes", "a Uint8Array", bytes);
  const { merkle, values, lookup } = parseParts(parseDocument("The file", bytes, LIMITS));
  const records = values.map((value, i) => parseValue(`values[${i}]`, value));
  const index = checkUntrusted("file", "values", () => indexByUser(records, values));
  const tree = checkUntrusted("file", "values", () => new MerkleTree(values));
  if (tree.root !== root) {
    const message = `The root of the file's values is ${tree.root}, but the expected root is ${root}. The file was changed.`;
    throw new VerificationError("tree", "ROOT_MISMATCH", message, { expected: root, actual: tree.root });
  }
  verifyLookup(lookup, index);
  verifyMerkle(merkle, tree);
  return { values, records, lookup: index, tree };
}

/** Returns `file` if it has the parts of a MerkleFile. @throws ArgumentError ARGUMENT_INVALID */
export function checkMerkleFile(file: unknown): MerkleFile {
  if (isObject(file) && Array.isArray(file["values"]) && file["lookup"] instanceof Map && isObject(file["tree"])) {
    return file as unknown as MerkleFile;
  }
  throw invalidArgument("The argument file", "a result of makeMerkleFile or parseMerkleFile", file);
}

/** The nodes of `merkle` with their hashes: the leaves first, then level by level, and the root last. */
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
      // CVE-2012-2459: repeating a last value that is paired with itself does not change the root.
      const code = values[first] === values[i] ? "DUPLICATE_VALUE" : "DUPLICATE_USER";
      const message = `The user ${userID} has two records, at the indexes ${first} and ${i}.`;
      throw new ArgumentError(code, message, { expected: first, actual: i });
    }
    index.set(userID, i);
  }
  return index;
}

interface FileParts {
  merkle: Record<string, unknown>;
  values: string[];
  lookup: Record<string, unknown>;
}

function parseParts(document: unknown): FileParts {
  const unknown = Object.keys(shape.dictionary("The file", document)).find((key) => !isFileKey(key));
  if (unknown !== undefined) throw unknownKey("The file", unknown);
  const { merkle, values, lookup } = shape.fields("The file", document, FILE_KEYS);
  const parts = {
    merkle: shape.dictionary("merkle", merkle),
    lookup: shape.dictionary("lookup", lookup),
    values: shape.array("values", values) as string[],
  };
  // Makes the path of an invalid value only, because a file has many values.
  const invalid = parts.values.findIndex((value) => typeof value !== "string");
  if (invalid !== -1) shape.text(`values[${invalid}]`, parts.values[invalid]);
  return parts;
}

function isFileKey(key: string): boolean {
  return FILE_KEYS.some((known) => known === key);
}

function parseValue(path: string, value: string): KeyRecord {
  checkNotNode("file", path, value);
  return checkUntrusted("file", path, () => parseKeyRecord(value));
}

function verifyLookup(lookup: Record<string, unknown>, index: ReadonlyMap<UserID, number>): void {
  const keys = Object.keys(lookup);
  for (const [userID, i] of index) {
    const key = keys[i];
    const actual = lookup[key === userID ? key : userID];
    if (actual === i) continue;
    const message = `lookup contains ${describeValue(actual)} for the user ${userID}, but the record is values[${i}].`;
    throw new VerificationError("file", "LOOKUP_MISMATCH", message, { expected: i, actual });
  }
  if (keys.length === index.size) return;
  for (const key of keys) {
    if (index.has(key)) continue;
    if (!isUserID(key)) throw unknownKey("lookup", key);
    const message = `lookup contains the user ${key}, but values contains no record of this user.`;
    throw new VerificationError("file", "LOOKUP_MISMATCH", message, { actual: lookup[key] });
  }
}

function verifyMerkle(merkle: Record<string, unknown>, tree: MerkleTree): void {
  const { root, hashalgo, leaves, levels } = merkle;
  if (hashalgo !== "sha256") {
    const message = `merkle.hashalgo must be "sha256", but is ${describeValue(hashalgo)}.`;
    throw new VerificationError("file", "FILE_HASH_ALGORITHM", message, { expected: "sha256", actual: hashalgo });
  }
  verifyEqual("merkle.root", tree.root, root);
  verifyEqual("merkle.leaves", tree.leafCount, leaves);
  verifyEqual("merkle.levels", tree.height, levels);
  // Deployed files have their nodes in this order. Looking up a key object that exists is faster than an equal string.
  const keys = Object.keys(merkle);
  let count = 0;
  for (const [hash, expected] of nodesOf(tree)) {
    const key = keys[HEADER_KEYS.length + count++];
    const actual = merkle[key === hash ? key : hash];
    if (actual === undefined) checkKeys(merkle);
    verifyNode(hash, expected, actual);
  }
  const actual = keys.length - HEADER_KEYS.length;
  if (actual === count) return;
  checkKeys(merkle);
  throw mismatch("The number of nodes in merkle", count, actual);
}

/** Throws if `merkle` contains a key that no file has. */
function checkKeys(merkle: Record<string, unknown>): void {
  for (const key of Object.keys(merkle)) {
    if (MERKLE_ROOT.test(key) || HEADER_KEYS.includes(key)) continue;
    throw MERKLE_ROOT.test(key.toLowerCase()) ? notLowercase("A key of merkle", key) : unknownKey("merkle", key);
  }
}

function verifyNode(hash: string, expected: MerkleNode, actual: unknown): void {
  if (!isObject(actual)) throw mismatch(pathOfNode(hash), "a node", actual);
  for (const field of NODE_FIELDS) {
    if (actual[field] !== expected[field]) verifyEqual(`${pathOfNode(hash)}.${field}`, expected[field], actual[field]);
  }
  const fields = Object.keys(actual);
  if (fields.length === NODE_FIELDS.length) return;
  const unknown = fields.find((field) => !Object.hasOwn(expected, field));
  if (unknown !== undefined) throw unknownKey(pathOfNode(hash), unknown);
}

function pathOfNode(hash: string): string {
  return `merkle["${hash}"]`;
}

function verifyEqual(path: string, expected: string | number, actual: unknown): void {
  if (actual === expected) return;
  if (typeof actual === "string" && actual !== actual.toLowerCase() && MERKLE_ROOT.test(actual.toLowerCase()))
    throw notLowercase(path, actual);
  throw mismatch(path, expected, actual);
}

function mismatch(path: string, expected: string | number, actual: unknown): VerificationError {
  const message = `${path} must be ${describeValue(expected)} according to values, but is ${describeValue(actual)}.`;
  return new VerificationError("tree", "TREE_MISMATCH", message, { expected, actual });
}

function notLowercase(path: string, actual: string): VerificationError {
  const message = `${path} must be a hash in lowercase hex, but is ${describeValue(actual)}.`;
  return new VerificationError("file", "HASH_NOT_LOWERCASE", message, { expected: actual.toLowerCase(), actual });
}

function unknownKey(path: string, actual: string): VerificationError {
  const message = `${path} contains the unknown key ${describeValue(actual)}.`;
  return new VerificationError("file", "FILE_UNKNOWN_KEY", message, { actual });
}
