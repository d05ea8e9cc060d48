import { bytesToHex, hexToBytes } from "../bytes/platform.ts";
import { describeValue } from "../input/describeValue.ts";
import { VerificationError } from "../errors.ts";
import type { UserID } from "../identity/userID.ts";
import type { MerkleFile } from "./file.ts";
import { hashChildren } from "./hash.ts";
import { hashAt, MAX_VALUES } from "./tree.ts";

/**
 * A part of a tree: the leaves of all users whose ids begin alike, and the hashes that lead from them to the root
 * (docs/formats.md, "Leaf chunk"). A tree of 700 users has 32 chunks of about 1.1 kB.
 */
export interface LeafChunk {
  /** As `chunkNumber` returns it. */
  number: number;
  bytes: Uint8Array;
}

/** The maximum size of a chunk in bytes. Ids that are spread evenly need 3 kB. */
export const MAX_CHUNK_BYTES = 2 ** 16;

/** A chunk has at most as many leaves on average, and at least half as many in a tree with more than one chunk. */
const AVERAGE_LEAVES = 32;
/** The digits of user ids in byte order, which is the order of a file's records. */
const DIGITS = "13456789abcdefghijkmnopqrstuwxyz";
const HASH_DIGITS = 64;
/** Position and number of leaves: 4 bytes each. */
const COUNT_DIGITS = 8;

/**
 * The number of the chunk with a user's leaf: the first bits of the id, read in the order of a file's records.
 * @param leafCount the number of leaves in the whole tree
 */
export function chunkNumber(userID: UserID, leafCount: number): number {
  let [bits, number] = [0, 0];
  while (AVERAGE_LEAVES * 2 ** bits < leafCount) bits++;
  // Five bits each. The largest tree has chunks of 15 bits.
  for (const digit of userID.slice(0, 3)) number = number * 32 + DIGITS.indexOf(digit);
  return number >> (15 - bits);
}

/**
 * Makes all chunks of a file. A file whose records are not sorted by user id has none.
 * @example
 * for (const { number, bytes } of makeLeafChunks(file)) await writeFile(`${file.tree.root}/${number}.bin`, bytes);
 */
export function* makeLeafChunks({ records, tree }: MerkleFile): Generator<LeafChunk> {
  const numbers = records.map(({ userID }) => chunkNumber(userID, tree.leafCount));
  if (records.some(({ userID }, i) => i > 0 && userID <= (records[i - 1]?.userID ?? ""))) return;
  for (let [first, end] = [0, 0]; first < numbers.length; first = end) {
    const number = numbers[first] ?? 0;
    while (numbers[end] === number) end++;
    const leaves = tree.joinedHashes(0).slice(first * HASH_DIGITS, end * HASH_DIGITS);
    const bytes = hexToBytes(hexCount(first) + hexCount(end - first) + leaves + siblingsOf(tree, first, end));
    if (bytes.length <= MAX_CHUNK_BYTES) yield { number, bytes };
  }
}

/** The neighbors of a range of leaves, and of its parents on each level: left, then right, as far as the tree has them. */
function siblingsOf(tree: MerkleFile["tree"], first: number, end: number): string {
  let siblings = "";
  for (let level = 0; level < tree.height - 1; level++) {
    const hashes = tree.joinedHashes(level);
    if (first % 2 === 1) siblings += hashAt(hashes, first - 1);
    if (end % 2 === 1) siblings += hashAt(hashes, end);
    [first, end] = [first >> 1, (end + 1) >> 1];
  }
  return siblings;
}

/**
 * Verifies a chunk from an untrusted source, and finds a leaf in it.
 * @param bytes the chunk as it was served
 * @param leaf the hash of a record's text: 64 lowercase hex digits
 * @param tree the root of the tree, 64 lowercase hex digits, and the number of its leaves
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
  const message = `The leaf chunk of the root ${root} does not have the leaf ${describeValue(leaf)}.`;
  throw new VerificationError("record", "USER_NOT_IN_FILE", message, { expected: leaf });
}

/** The root over a range of leaves and its siblings, all of which it needs. */
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

function hexCount(count: number): string {
  return count.toString(16).padStart(COUNT_DIGITS, "0");
}

function readCount(hex: string, at: number): number {
  const count = parseInt(hex.slice(at, at + COUNT_DIGITS), 16);
  return count <= MAX_VALUES ? count : NaN;
}

function wrongShape(reason: string): VerificationError {
  return new VerificationError("file", "PROOF_SHAPE", `The leaf chunk is malformed: ${reason}.`);
}
