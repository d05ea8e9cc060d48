import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { encodeUtf8 } from "../../engine/utf8.ts";
import { bytesToHex, hexToBytes } from "../../bytes/hex.ts";
import { VerificationError } from "../../errors.ts";
import { decodeDocument } from "../../input/untrusted.ts";
import { checkBytes } from "../../input/options.ts";

/** A leaf of a statement's tree. Each leaf describes one root. */
export interface RootEntry {
  /** The Merkle root, 64 lowercase hex digits. */
  root: string;
  /** The number of records in the root's file. */
  recordCount: number;
  /**
   * The number of users with this root on the chain. This number is less than `recordCount` if some users have an older
   * root.
   */
  userCount: number;
}

/**
 * Maximum size of a list of roots in bytes. This size is enough for 200,000 roots, or 140 million users in files of 700
 * users.
 */
export const MAX_ROOTS_BYTES = 2 ** 24;
const LINE = /^([0-9a-f]{64}) ([1-9][0-9]{0,15}) (0|[1-9][0-9]{0,15})$/;

/** Returns the text of a leaf: the root, the number of records and the number of users, separated by spaces. */
export function serializeRootEntry({ root, recordCount, userCount }: RootEntry): string {
  return `${root} ${recordCount} ${userCount}`;
}

/** Writes the list of all roots in the order of the chain, one root per line. */
export function serializeRoots(entries: readonly RootEntry[]): string {
  return entries.map((entry) => `${serializeRootEntry(entry)}\n`).join("");
}

/**
 * Parses a list of roots, and checks the list against a statement's tree. The last lines may contain newer roots.
 * @throws VerificationError STATEMENT_TREE_MISMATCH, FILE_TOO_LARGE, FILE_NOT_UTF8, step "anchor" or "file"
 */
export function parseRoots(source: Uint8Array, tree: { size: number; hash: string }): RootEntry[] {
  const lines = decodeDocument("The list of roots", checkBytes("The list of roots", source), MAX_ROOTS_BYTES).split(
    "\n",
  );
  const isComplete = lines.pop() === "" && lines.length >= tree.size;
  const own = lines.slice(0, tree.size);
  const actual = isComplete ? hashRoots(own) : undefined;
  if (actual !== tree.hash) {
    const message = `The list of roots does not match the statement. The hash of its first ${tree.size} lines must be ${tree.hash}, but is ${actual ?? "missing"}.`;
    throw new VerificationError("anchor", "STATEMENT_TREE_MISMATCH", message, { expected: tree.hash, actual });
  }
  return own.map(parseRootEntry);
}

/** Parses the text of a leaf. @throws VerificationError STATEMENT_TREE_MISMATCH, step "anchor" */
export function parseRootEntry(text: string): RootEntry {
  const [, root = "", recordCount, userCount] = LINE.exec(text) ?? [];
  const entry = { root, recordCount: Number(recordCount), userCount: Number(userCount) };
  if (entry.userCount <= entry.recordCount && Number.isSafeInteger(entry.recordCount)) return entry;
  const message =
    "A leaf of the statement's tree must contain a root, its number of records and its number of users. It must not have more users than records.";
  throw new VerificationError("anchor", "STATEMENT_TREE_MISMATCH", message, { actual: text });
}

/** Computes the hash of a tree from the tree's leaves (RFC 6962, section 2.1). @returns 64 lowercase hex digits */
export function hashRoots(leaves: readonly string[]): string {
  return bytesToHex(hashSubtree(leaves.map(hashLeafText)));
}

/**
 * Makes the inclusion proof of a leaf (RFC 6962, section 2.1.1).
 * @returns the sibling hashes from the leaf up, 64 lowercase hex digits each
 */
export function proveInclusion(leaves: readonly string[], index: number): string[] {
  const path = (hashes: readonly Uint8Array[], i: number): Uint8Array[] => {
    if (hashes.length <= 1) return [];
    const split = splitOf(hashes.length);
    const [left, right] = [hashes.slice(0, split), hashes.slice(split)];
    return i < split ? [...path(left, i), hashSubtree(right)] : [...path(right, i - split), hashSubtree(left)];
  };
  return path(leaves.map(hashLeafText), index).map(bytesToHex);
}

/**
 * Checks a proof that a tree includes a leaf (RFC 9162, section 2.1.3.2).
 * @param proof the sibling hashes, from `proveInclusion`
 */
export function verifyInclusion(
  leaf: string,
  index: number,
  proof: readonly string[],
  tree: { size: number; hash: string },
): boolean {
  let [node, last] = [index, tree.size - 1];
  let hash = hashLeafText(leaf);
  for (const sibling of proof) {
    if (last <= 0) return false;
    const other = hexToBytes(sibling);
    if (node % 2 === 1 || node === last) {
      hash = hashPair(other, hash);
      while (node % 2 === 0 && node > 0) [node, last] = [node / 2, Math.floor(last / 2)];
    } else {
      hash = hashPair(hash, other);
    }
    [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  }
  return index >= 0 && index < tree.size && last === 0 && bytesToHex(hash) === tree.hash;
}

function hashSubtree(hashes: readonly Uint8Array[]): Uint8Array {
  const [first, second] = hashes;
  if (first === undefined) return sha256(new Uint8Array());
  if (second === undefined) return first;
  const split = splitOf(hashes.length);
  return hashPair(hashSubtree(hashes.slice(0, split)), hashSubtree(hashes.slice(split)));
}

/** Returns the largest power of two that is less than the number of leaves. */
function splitOf(count: number): number {
  let split = 1;
  while (split * 2 < count) split *= 2;
  return split;
}

/** Computes the hash of a leaf (RFC 6962, section 2.1). @param text the leaf, from `serializeRootEntry` */
export function hashLeafText(text: string): Uint8Array {
  return sha256(concatBytes(Uint8Array.of(0), encodeUtf8(text)));
}

/** Computes the hash of an inner node (RFC 6962, section 2.1). */
export function hashPair(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(concatBytes(Uint8Array.of(1), left, right));
}
