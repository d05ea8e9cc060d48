import { VerificationError } from "../errors.ts";
import { type KeyRecord, parseKeyRecord } from "../identity/keyRecord.ts";
import { isUserID, type UserID } from "../identity/userID.ts";
import { checkUntrusted } from "../input/checkUntrusted.ts";
import { describeValue } from "../input/describeValue.ts";
import { parseDocumentText } from "../input/document.ts";
import { isObject } from "../input/json.ts";
import { ShapeChecker } from "../input/shapeChecker.ts";
import type { MerkleFile } from "./file.ts";
import { checkNotNode, MERKLE_ROOT } from "./hash.ts";
import { indexByUser } from "./lookup.ts";
import { serializeNodes } from "./nodes.ts";
import { MerkleTree } from "./tree.ts";

/** The keys of the `merkle` object that are not nodes. */
const HEADER_KEYS = ["root", "hashalgo", "leaves", "levels"];
const NODE_FIELDS = ["type", "level", "left", "right", "parent"] as const;

type MerkleNode = Record<(typeof NODE_FIELDS)[number], string | number>;

/** The file, `merkle` and a node. */
const MAX_DEPTH = 3;

const shape = new ShapeChecker((message, details) => new VerificationError("file", "FILE_SHAPE", message, details));

/**
 * Parses and verifies a file of any spacing and order of keys.
 * @param text the whole file
 * @param root 64 lowercase hex digits
 * @throws VerificationError as `parseMerkleFile`, except FILE_TOO_LARGE and FILE_NOT_UTF8
 */
export function parseAnyFile(text: string, root: string): MerkleFile {
  const { merkle, values, lookup } = parseParts(parseDocumentText("The file", text, MAX_DEPTH));
  const records = values.map((value, i) => parseValue(`values[${i}]`, value));
  const index = () => ({ lookup: indexByUser(records, values), tree: new MerkleTree(values) });
  const file = { values, records, ...checkUntrusted("file", "values", index) };
  const actual = file.tree.root;
  if (actual !== root) {
    const message = `The root of the file's values is ${actual}, but the expected root is ${root}.`;
    throw new VerificationError("tree", "ROOT_MISMATCH", message, { expected: root, actual });
  }
  verifyLookup(lookup, file.lookup);
  verifyMerkle(merkle, file.tree);
  return file;
}

interface FileParts {
  merkle: Record<string, unknown>;
  values: string[];
  lookup: Record<string, unknown>;
}

function parseParts(document: unknown): FileParts {
  const { merkle, values, lookup, ...others } = shape.dictionary("The file", document);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw unknownKey("The file", unknown);
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

function parseValue(path: string, value: string): KeyRecord {
  checkNotNode("file", path, value);
  return checkUntrusted("file", path, () => parseKeyRecord(value));
}

function verifyLookup(lookup: Record<string, unknown>, index: ReadonlyMap<UserID, number>): void {
  for (const userID of new Set([...index.keys(), ...Object.keys(lookup)])) {
    const [expected, actual] = [index.get(userID), lookup[userID]];
    if (actual === expected) continue;
    if (expected === undefined && !isUserID(userID)) throw unknownKey("lookup", userID);
    const record = expected === undefined ? "values has no record of them" : `the record is values[${expected}]`;
    const message = `lookup contains ${describeValue(actual)} for the user ${userID}, but ${record}.`;
    throw new VerificationError("file", "LOOKUP_MISMATCH", message, { expected, actual });
  }
}

function verifyMerkle(merkle: Record<string, unknown>, tree: MerkleTree): void {
  const { hashalgo } = merkle;
  if (hashalgo !== "sha256") {
    const message = `merkle.hashalgo must be "sha256", but is ${describeValue(hashalgo)}.`;
    throw new VerificationError("file", "FILE_HASH_ALGORITHM", message, { expected: "sha256", actual: hashalgo });
  }
  const header = { root: tree.root, leaves: tree.leafCount, levels: tree.height };
  for (const [key, expected] of Object.entries(header)) verifyEqual(`merkle.${key}`, expected, merkle[key]);
  // Deployed files have their nodes in this order. Looking up a key object that exists is faster than an equal string.
  const keys = Object.keys(merkle);
  let count = 0;
  for (const piece of serializeNodes(tree)) {
    for (const [hash, expected] of Object.entries(JSON.parse(`{${piece}}`) as Record<string, MerkleNode>)) {
      const key = keys[HEADER_KEYS.length + count++];
      const actual = merkle[key === hash ? key : hash];
      if (actual === undefined) checkKeys(merkle);
      verifyNode(hash, expected, actual);
    }
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
  const unknown = Object.keys(actual).find((field) => !Object.hasOwn(expected, field));
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
  const message = `${path} must be ${describeValue(expected)}, but is ${describeValue(actual)}.`;
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
