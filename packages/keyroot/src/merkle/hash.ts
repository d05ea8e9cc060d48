import { sha256Hex } from "../bytes/platform.ts";
import { ArgumentError, VerificationError, type VerificationStep } from "../errors.ts";
import { describeValue } from "../input/describeValue.ts";

/** A Merkle root, or any other hash of a Merkle tree: 64 lowercase hex digits, without 0x. */
export const MERKLE_ROOT = /^[0-9a-f]{64}$/;

/** A text with the form of two hashes in a row. */
const TWO_HASHES = /^[0-9a-f]{128}$/;

/** Whether a value has the form of a Merkle root: 64 lowercase hex digits, without 0x. */
export function isMerkleRoot(value: unknown): value is string {
  return typeof value === "string" && MERKLE_ROOT.test(value);
}

/**
 * The hash of a leaf: SHA-256 over the value's exact text in UTF-8 (docs/specification.md, "Tree construction rules", 1).
 * @returns 64 lowercase hex digits
 */
export function hashLeaf(value: string): string {
  return sha256Hex(value);
}

/**
 * The hash of a node: SHA-256 over the 128 ASCII characters of its children's lowercase hex, left then right. This is the
 * rule of the deployed format (docs/formats.md, "Merkle tree"); the specification does not state it.
 * @param left 64 lowercase hex digits
 * @param right 64 lowercase hex digits; equal to `left` for a node that is paired with itself
 * @returns 64 lowercase hex digits
 */
export function hashChildren(left: string, right: string): string {
  return sha256Hex(left + right);
}

/** The root in the name `<root>.json` of a Merkle-tree file; undefined for any other name. */
export function rootOfFileName(name: string): string | undefined {
  const root = name.endsWith(".json") ? name.slice(0, -".json".length) : undefined;
  return isMerkleRoot(root) ? root : undefined;
}

/** Returns `root` if it is a Merkle root: 64 lowercase hex digits, without 0x. @throws ArgumentError HASH_INVALID */
export function checkMerkleRoot(root: unknown): string {
  if (isMerkleRoot(root)) return root;
  const message = `A Merkle root must be 64 lowercase hex digits without 0x, but is ${describeValue(root)}.`;
  throw new ArgumentError("HASH_INVALID", message, { expected: MERKLE_ROOT.source, actual: root });
}

/**
 * Checks that a value is not 128 lowercase hex digits. Its leaf would be the hash of a node: the format does not
 * separate leaves from nodes (docs/formats.md, "Merkle-tree file").
 * @throws VerificationError VALUE_LOOKS_LIKE_NODE
 */
export function checkNotNode(step: VerificationStep, path: string, value: string): void {
  if (!TWO_HASHES.test(value)) return;
  const message = `${path} consists of two hashes, so its leaf is the hash of a node.`;
  throw new VerificationError(step, "VALUE_LOOKS_LIKE_NODE", message, { actual: value });
}
