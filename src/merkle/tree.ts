import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { ArgumentError } from "../errors.ts";

/** SHA-256. */
export const HASH_BYTES = 32;
/** The most values that one tree takes: with all their nodes some 64 MB of hashes. */
export const MAX_VALUES = 1_000_000;

/** The hash of a leaf: SHA-256 over the exact bytes of its value (specification, "Tree construction rules", 1). */
export function hashLeaf(value: string): Uint8Array {
  return sha256(utf8ToBytes(value));
}

/**
 * The hash of a parent: SHA-256 over the 128 ASCII characters of both children's lowercase hex. (The rule of the files
 * in use since the format's first days; the specification leaves it open.)
 */
export function hashParent(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(utf8ToBytes(bytesToHex(left) + bytesToHex(right)));
}

/**
 * A Merkle tree over 1 to 1,000,000 values, in memory as bytes: 32 a node. Level 0 holds the leaves, each further level
 * their parents, the last one the root. A level's last node without a sibling is paired with itself.
 */
export class MerkleTree {
  readonly #levels: Uint8Array[] = [];

  /**
   * @param values the texts whose hashes are the leaves
   * @throws ArgumentError TREE_EMPTY, TREE_TOO_LARGE
   */
  constructor(values: readonly string[]) {
    if (values.length === 0) throw new ArgumentError("TREE_EMPTY", "A tree needs at least one value.");
    if (values.length > MAX_VALUES) {
      const message = `A tree takes ${MAX_VALUES} values at the most, not ${values.length}: publish several.`;
      throw new ArgumentError("TREE_TOO_LARGE", message, { expected: MAX_VALUES, actual: values.length });
    }
    let level = new Uint8Array(values.length * HASH_BYTES);
    for (const [i, value] of values.entries()) level.set(hashLeaf(value), i * HASH_BYTES);
    this.#levels.push(level);
    while (level.length > HASH_BYTES) {
      level = parentsOf(level);
      this.#levels.push(level);
    }
  }

  /** The root, 64 hex digits in lower case. */
  get root(): string {
    return bytesToHex(this.#level(this.height - 1));
  }

  /** How many leaves the tree has. */
  get leafCount(): number {
    return this.#level(0).length / HASH_BYTES;
  }

  /** How many levels the tree has; 1 when its only leaf is the root. */
  get height(): number {
    return this.#levels.length;
  }

  /** The hashes of a level's nodes, 64 hex digits in lower case each; level 0 are the leaves. */
  hashes(level: number): string[] {
    const nodes = this.#level(level);
    return Array.from({ length: nodes.length / HASH_BYTES }, (_, i) => bytesToHex(nodeAt(nodes, i)));
  }

  #level(level: number): Uint8Array {
    const nodes = this.#levels[level];
    if (nodes === undefined) throw new RangeError(`There is no level ${level} in a tree of ${this.height}.`);
    return nodes;
  }
}

function parentsOf(children: Uint8Array): Uint8Array<ArrayBuffer> {
  const last = children.length / HASH_BYTES - 1;
  const parents = new Uint8Array(Math.ceil((last + 1) / 2) * HASH_BYTES);
  for (let i = 0; i <= last; i += 2) {
    const parent = hashParent(nodeAt(children, i), nodeAt(children, Math.min(i + 1, last)));
    parents.set(parent, (i / 2) * HASH_BYTES);
  }
  return parents;
}

function nodeAt(level: Uint8Array, index: number): Uint8Array {
  return level.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES);
}
