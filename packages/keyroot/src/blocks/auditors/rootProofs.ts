import { bytesToBase64 } from "../../bytes/base64.ts";
import { hashLeafText, hashPair, type RootEntry, serializeRootEntry } from "./rootTree.ts";
import { subtreeOf, subtreesOf } from "./subtrees.ts";

/**
 * The proofs of all roots in a statement's tree, one file per root (docs/formats.md, "Root proof"). The tree consists
 * of complete subtrees, the largest first. A proof contains the sibling hashes from the root's leaf to the top of the
 * leaf's subtree. When the subtree grows, additional hashes are appended to the proof. The longer proof remains valid
 * for older statements, which use only the first hashes.
 */
export class RootProofs {
  private readonly entries: readonly RootEntry[];
  /** The nodes of each level, from the leaves up. Nodes with incomplete subtrees are missing. */
  private readonly levels: readonly (readonly Uint8Array[])[];

  /** @param entries the roots in the order of the chain */
  constructor(entries: readonly RootEntry[]) {
    this.entries = entries;
    const levels = [entries.map((entry) => hashLeafText(serializeRootEntry(entry)))];
    for (let level = levels[0] ?? []; level.length > 1; levels.push(level)) {
      const parents: Uint8Array[] = [];
      for (let i = 1; i < level.length; i += 2) parents.push(hashPair(level[i - 1] ?? NONE, level[i] ?? NONE));
      level = parents;
    }
    this.levels = levels;
  }

  /** Returns the subtrees file, which contains the top hash of each complete subtree. */
  subtrees(): string {
    const tops = subtreesOf(this.entries.length).map(({ start, height }) => this.levels[height]?.[start / 2 ** height]);
    return serializeHashes(tops);
  }

  /** Returns the proof file of the root with this index. */
  proofOf(index: number): string {
    const [entry] = this.entries.slice(index, index + 1);
    if (entry === undefined) throw new RangeError(`The tree has no root at the position ${index}.`);
    const height = subtreeOf(index, this.entries.length)?.height;
    const siblings = this.levels.slice(0, height).map((nodes, level) => nodes[Math.floor(index / 2 ** level) ^ 1]);
    return `${index} ${serializeRootEntry(entry)}\n${serializeHashes(siblings)}`;
  }
}

const NONE = new Uint8Array();

function serializeHashes(hashes: readonly (Uint8Array | undefined)[]): string {
  return hashes.map((hash) => `${bytesToBase64(hash ?? NONE)}\n`).join("");
}
