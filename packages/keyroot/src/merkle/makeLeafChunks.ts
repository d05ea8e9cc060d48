import { hexToBytes } from "../bytes/hex.ts";
import { chunkNumber, COUNT_DIGITS, HASH_DIGITS, MAX_CHUNK_BYTES } from "./chunkNumber.ts";
import type { MerkleFile } from "./fileOf.ts";
import { hashAt } from "./tree.ts";

/**
 * A part of a Merkle tree (docs/formats.md, "Leaf chunk"). A chunk contains the leaves of all users with ids that begin
 * with the same bits. A chunk also contains the sibling hashes for the computation of the root. A tree of 700 users has
 * 32 chunks of about 1.1 kB.
 */
export interface LeafChunk {
  /** The number of the chunk, from `chunkNumber`. */
  number: number;
  bytes: Uint8Array;
}

/**
 * Makes all leaf chunks of a Merkle-tree file. A file has no chunks if the file's records are not sorted by user id.
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

/**
 * Returns the sibling hashes of a range of leaves, from the leaves up. Each level has a left neighbor of the range, a
 * right neighbor, both neighbors or no neighbor.
 */
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

function hexCount(count: number): string {
  return count.toString(16).padStart(COUNT_DIGITS, "0");
}
