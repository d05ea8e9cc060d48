import { bytesToHex } from "../bytes/hex.ts";
import { VerificationError } from "../errors.ts";
import { describeValue } from "../input/describeValue.ts";
import { COUNT_DIGITS, HASH_DIGITS, MAX_CHUNK_BYTES } from "./chunkNumber.ts";
import { hashChildren } from "./hash.ts";
import { MAX_VALUES } from "./tree.ts";

/**
 * Verifies an untrusted leaf chunk, and finds a leaf in the chunk.
 * @param bytes the chunk as the file host returned it
 * @param leaf the hash of a record's text, 64 lowercase hex digits
 * @param tree the tree's root, 64 lowercase hex digits, and the tree's number of leaves
 * @returns the position of the leaf in the tree
 * @throws VerificationError PROOF_SHAPE, step "file"; ROOT_MISMATCH, step "tree"; USER_NOT_IN_FILE, step "record"
 */
export function findInLeafChunk(
  bytes: Uint8Array,
  leaf: string,
  { root, leafCount }: { root: string; leafCount: number },
): number {
  if (bytes.length > MAX_CHUNK_BYTES) throw wrongShape(`it has more than ${MAX_CHUNK_BYTES} bytes`);
  const hex = bytesToHex(bytes);
  const [position, count] = [readCount(hex, 0), readCount(hex, COUNT_DIGITS)];
  const hashes: string[] = [];
  for (let at = 2 * COUNT_DIGITS; at < hex.length; at += HASH_DIGITS) hashes.push(hex.slice(at, at + HASH_DIGITS));
  const hasWholeHashes = hex.length >= 2 * COUNT_DIGITS && (hex.length - 2 * COUNT_DIGITS) % HASH_DIGITS === 0;
  if (!hasWholeHashes || !(count >= 1 && count <= hashes.length && position + count <= leafCount))
    throw wrongShape(`it cannot have ${count} of ${leafCount} leaves from position ${position}`);
  const leaves = hashes.slice(0, count);
  const actual = rootOver(leaves, position, leafCount, hashes.slice(count));
  if (actual !== root) {
    const message = `The root of the leaf chunk is ${actual}, but the expected root is ${root}.`;
    throw new VerificationError("tree", "ROOT_MISMATCH", message, { expected: root, actual });
  }
  const index = leaves.indexOf(leaf);
  if (index !== -1) return position + index;
  const message = `The leaf chunk of the root ${root} does not contain the leaf ${describeValue(leaf)}.`;
  throw new VerificationError("record", "USER_NOT_IN_FILE", message, { expected: leaf });
}

/** Computes the root from a range of leaves and the sibling hashes. Rejects sibling hashes that are not needed. */
function rootOver(leaves: readonly string[], first: number, leafCount: number, siblings: readonly string[]): string {
  let nodes = [...leaves];
  let used = 0;
  const next = () => siblings[used++] ?? "";
  for (let size = leafCount; size > 1; size = Math.ceil(size / 2)) {
    if (first % 2 === 1) nodes.unshift(next());
    first = Math.floor(first / 2);
    const parents: string[] = [];
    for (let i = 0; i < nodes.length; i += 2) {
      const left = nodes[i] ?? "";
      const isLast = 2 * first + i === size - 1;
      parents.push(hashChildren(left, nodes[i + 1] ?? (isLast ? left : next())));
    }
    nodes = parents;
  }
  if (used !== siblings.length) throw wrongShape(`it has ${siblings.length} siblings instead of ${used}`);
  return nodes[0] ?? "";
}

function readCount(hex: string, at: number): number {
  const count = parseInt(hex.slice(at, at + COUNT_DIGITS), 16);
  return count <= MAX_VALUES ? count : NaN;
}

function wrongShape(reason: string): VerificationError {
  return new VerificationError("file", "PROOF_SHAPE", `The leaf chunk is malformed: ${reason}.`);
}
