import { hasOwn } from "../engine/language.ts";
import { VerificationError } from "../errors.ts";
import { curve41417 } from "../identity/keyTypes/curve41417.ts";
import type { KeyType } from "../identity/keyTypes/keyType.ts";
import { parseKeyRecord } from "../identity/keyRecord.ts";
import type { KeyRecord } from "../identity/serializedRecord.ts";
import { isUserID, type UserID } from "../identity/userID.ts";
import { parseJson } from "../input/parseJson.ts";
import { ShapeChecker } from "../input/shapeChecker.ts";
import { checkUntrusted } from "../input/untrusted.ts";
import { describeValue, isObject } from "../input/values.ts";
import { fileOf, type MerkleFile } from "./fileOf.ts";
import { checkNotNode } from "./checkNotNode.ts";
import { MERKLE_ROOT } from "./hash.ts";
import { serializeNodes } from "./nodes.ts";
import type { MerkleTree } from "./tree.ts";

/** Matches the header keys of the `merkle` object, all of which are optional. */
const HEADER_KEY = /^(?:root|hashalgo|leaves|levels)$/;
const HASH_ALGORITHM = "sha256";

/** The fields of a node: type, level, left, right, parent. */
type MerkleNode = Record<string, string | number>;

/** The nesting depth of a Merkle-tree file: the file, `merkle` and a node. */
const MAX_DEPTH = 3;
const shape = /* @__PURE__ */ new ShapeChecker(
  (message, details) => new VerificationError("file", "FILE_SHAPE", message, details),
);

/**
 * Parses and verifies the text of a Merkle-tree file. Keys may have any order and spacing.
 * @param text the whole file
 * @param root 64 lowercase hex digits
 * @throws VerificationError as `parseMerkleFile`, except FILE_TOO_LARGE and FILE_NOT_UTF8
 */
export function verifyMerkleFile(text: string, root: string, keyType: KeyType = curve41417): MerkleFile {
  const { merkle, values, lookup } = parseParts(checkUntrusted("file", "The file", () => parseJson(text, MAX_DEPTH)));
  const records = values.map((value, i) => parseValue(`values[${i}]`, value, keyType));
  const file = checkUntrusted("file", "values", () => fileOf(values, records, keyType));
  const actual = file.tree.root;
  if (actual !== root) {
    const message = `The root of the file's values is ${actual}, but the expected root is ${root}.`;
    throw new VerificationError("tree", "ROOT_MISMATCH", message, { expected: root, actual });
  }
  verifyLookup(lookup, file.lookup);
  verifyMerkle(merkle, file.tree);
  return file;
}

function parseParts(document: unknown) {
  const { merkle, values, lookup, ...others } = shape.dictionary("The file", document);
  for (const key of Object.keys(others)) throw unknownKey("The file", key);
  return {
    merkle: shape.dictionary("merkle", merkle),
    lookup: shape.dictionary("lookup", lookup),
    values: shape.list("values", values, Infinity, (path, value) => shape.text(path, value)),
  };
}

function parseValue(path: string, value: string, keyType: KeyType): KeyRecord {
  checkNotNode("file", path, value);
  return checkUntrusted("file", path, () => parseKeyRecord(value, keyType));
}

/** Checks that `lookup` contains exactly the indexes of the records, because the root does not depend on it. */
function verifyLookup(lookup: Record<string, unknown>, index: ReadonlyMap<UserID, number>): void {
  for (const userID of new Set([...index.keys(), ...Object.keys(lookup)])) {
    const [expected, actual] = [index.get(userID), lookup[userID]];
    if (actual === expected) continue;
    if (expected === undefined && !isUserID(userID)) throw unknownKey("lookup", userID);
    const record = expected === undefined ? "values has no record of this user" : `the record is values[${expected}]`;
    const message = `lookup contains ${describeValue(actual)} for the user ${userID}, but ${record}.`;
    throw new VerificationError("file", "LOOKUP_MISMATCH", message, { expected, actual });
  }
}

/** Checks that `merkle` contains all nodes of the tree and no other keys, except correct header keys. */
function verifyMerkle(merkle: Record<string, unknown>, tree: MerkleTree): void {
  const keys = Object.keys(merkle);
  const { root, leafCount: leaves, height: levels } = tree;
  let count = 0;
  for (const [key, expected] of Object.entries({ hashalgo: HASH_ALGORITHM, root, leaves, levels })) {
    const actual = merkle[key];
    if (actual === undefined) continue;
    count++;
    if (key === "hashalgo" && actual !== expected) throw anotherAlgorithm(actual);
    verifyEqual(`merkle.${key}`, expected, actual);
  }
  // Deployed files have their nodes in this order, so the next key of `merkle` is usually the expected hash. The member
  // is then read with the object's own key, because engines find members faster with it than with another string of the
  // same characters.
  for (const piece of serializeNodes(tree)) {
    for (const [hash, expected] of Object.entries(JSON.parse(`{${piece}}`) as Record<string, MerkleNode>)) {
      const key = keys[count++];
      const actual = merkle[key === hash ? key : hash];
      if (actual === undefined) checkKeys(merkle);
      verifyNode(hash, expected, actual);
    }
  }
  if (keys.length === count) return;
  checkKeys(merkle);
  throw mismatch("The size of merkle", count, keys.length);
}

/** Throws an error if `merkle` contains an unknown key. */
function checkKeys(merkle: Record<string, unknown>): void {
  for (const key of Object.keys(merkle)) {
    if (MERKLE_ROOT.test(key) || HEADER_KEY.test(key)) continue;
    throw MERKLE_ROOT.test(key.toLowerCase()) ? notLowercase("A key of merkle", key) : unknownKey("merkle", key);
  }
}

function unknownKey(path: string, actual: string): VerificationError {
  const message = `${path} contains the unknown key ${describeValue(actual)}.`;
  return new VerificationError("file", "FILE_UNKNOWN_KEY", message, { actual });
}

function anotherAlgorithm(actual: unknown): VerificationError {
  const message = `merkle.hashalgo must be "${HASH_ALGORITHM}", but is ${describeValue(actual)}.`;
  return new VerificationError("file", "FILE_HASH_ALGORITHM", message, { expected: HASH_ALGORITHM, actual });
}

function verifyNode(hash: string, expected: MerkleNode, actual: unknown): void {
  if (!isObject(actual)) throw mismatch(pathOfNode(hash), "a node", actual);
  for (const field in expected)
    if (actual[field] !== expected[field]) verifyEqual(`${pathOfNode(hash)}.${field}`, expected[field], actual[field]);
  for (const field in actual)
    if (hasOwn(actual, field) && !hasOwn(expected, field)) throw unknownKey(pathOfNode(hash), field);
}

function pathOfNode(hash: string): string {
  return `merkle["${hash}"]`;
}

function verifyEqual(path: string, expected: unknown, actual: unknown): void {
  if (actual === expected) return;
  if (typeof actual === "string" && actual !== actual.toLowerCase() && MERKLE_ROOT.test(actual.toLowerCase()))
    throw notLowercase(path, actual);
  throw mismatch(path, expected, actual);
}

function mismatch(path: string, expected: unknown, actual: unknown): VerificationError {
  const message = `${path} must be ${describeValue(expected)}, but is ${describeValue(actual)}.`;
  return new VerificationError("tree", "TREE_MISMATCH", message, { expected, actual });
}

function notLowercase(path: string, actual: string): VerificationError {
  const message = `${path} must be a hash in lowercase hex, but is ${describeValue(actual)}.`;
  return new VerificationError("file", "HASH_NOT_LOWERCASE", message, { expected: actual.toLowerCase(), actual });
}
