import { ArgumentError } from "../errors.ts";
import { sha256Hex } from "./sha256Hex.ts";

/** The most values that one tree takes: with all their nodes some 200 MB of hashes. */
export const MAX_VALUES = 1_000_000;

/** The hash of a leaf: SHA-256 over the exact bytes of its value (specification, "Tree construction rules", 1). */
export function hashLeaf(value: string): string {
  return sha256Hex(value);
}

/**
 * The hash of a parent: SHA-256 over the 128 ASCII characters of both children's lowercase hex. (The rule of the files
 * in use since the format's first days; the specification leaves it open.)
 */
export function hashParent(left: string, right: string): string {
  return sha256Hex(left + right);
}

/**
 * A Merkle tree over 1 to 1,000,000 values. Level 0 holds the leaves, each further level their parents, the last one
 * the root. A level's last node without a sibling is paired with itself. All hashes are 64 hex digits in lower case.
 */
export class MerkleTree {
  readonly #levels: string[][];

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
    let level = values.map(hashLeaf);
    this.#levels = [level];
    while (level.length > 1) {
      level = parentsOf(level);
      this.#levels.push(level);
    }
  }

  /** The root: the one hash of the last level. */
  get root(): string {
    return this.hashes(this.height - 1).join("");
  }

  /** How many leaves the tree has. */
  get leafCount(): number {
    return this.hashes(0).length;
  }

  /** How many levels the tree has; 1 when its only leaf is the root. */
  get height(): number {
    return this.#levels.length;
  }

  /** The hashes of a level's nodes; level 0 are the leaves. */
  hashes(level: number): readonly string[] {
    const nodes = this.#levels[level];
    if (nodes === undefined) throw new RangeError(`There is no level ${level} in a tree of ${this.height}.`);
    return nodes;
  }
}

function parentsOf(children: readonly string[]): string[] {
  const parents: string[] = [];
  for (const [i, left] of children.entries()) {
    if (i % 2 === 0) parents.push(hashParent(left, children[i + 1] ?? left));
  }
  return parents;
}
