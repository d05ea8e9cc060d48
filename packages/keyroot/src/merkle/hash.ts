import { sha256Hex } from "../bytes/sha256.ts";
import { ArgumentError } from "../errors.ts";
import { describeValue } from "../input/values.ts";

/** A hash in a Merkle tree, such as the tree's root: 64 lowercase hex digits, without 0x. */
export const MERKLE_ROOT = /^[0-9a-f]{64}$/;

/** Checks whether a value has the form of a Merkle root: 64 lowercase hex digits, without 0x. */
export function isMerkleRoot(value: unknown): value is string {
  return typeof value === "string" && MERKLE_ROOT.test(value);
}

/**
 * Computes the hash of a leaf: the SHA-256 of the value's exact text in UTF-8 (docs/specification.md, "Tree
 * construction rules", 1).
 * @returns 64 lowercase hex digits
 */
export function hashLeaf(value: string): string {
  return sha256Hex(value);
}

/**
 * Computes the hash of an inner node, which is the SHA-256 of 128 ASCII characters. They are the left child's hash and
 * then the right child's hash, both in lowercase hex digits. The specification does not define this rule, but the
 * deployed files follow it (docs/formats.md, "Merkle tree").
 * @param left 64 lowercase hex digits
 * @param right 64 lowercase hex digits. Equal to `left` if the left child is paired with itself.
 * @returns 64 lowercase hex digits
 */
export function hashChildren(left: string, right: string): string {
  return sha256Hex(left + right);
}

/** Returns the root from the name of a Merkle-tree file, `<root>.json`, or undefined for any other name. */
export function rootOfFileName(name: string): string | undefined {
  const root = name.endsWith(".json") ? name.slice(0, -".json".length) : undefined;
  return isMerkleRoot(root) ? root : undefined;
}

/**
 * Checks that a value is a Merkle root (64 lowercase hex digits, without 0x) and returns it.
 * @throws ArgumentError HASH_INVALID
 */
export function checkMerkleRoot(root: unknown): string {
  if (isMerkleRoot(root)) return root;
  const message = `A Merkle root must be 64 lowercase hex digits without 0x, but is ${describeValue(root)}.`;
  throw new ArgumentError("HASH_INVALID", message, { expected: MERKLE_ROOT.source, actual: root });
}
