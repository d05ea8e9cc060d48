import { ArgumentError } from "../errors.ts";
import { sha256Hex } from "../bytes/platform.ts";

/** The most values that one tree takes: with all their nodes some 128 MB of hashes. */
export const MAX_VALUES = 1_000_000;

/** A hash in hex: 64 digits, a byte each. */
const HEX_BYTES = 64;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * A Merkle tree over 1 to 1,000,000 values. Level 0 holds the leaves, each further level their parents, the last one
 * the root. A level's last node without a sibling is paired with itself. All hashes are 64 hex digits in lower case.
 *
 * - A leaf is SHA-256 over the exact bytes of its value (specification, "Tree construction rules", 1).
 * - A parent is SHA-256 over the 128 ASCII characters of both children's hex. (The rule of the files in use since the
 *   format's first days; the specification leaves it open.)
 *
 * So a level is kept as the ASCII bytes of its hashes, end to end: what is hashed for a parent stands there already.
 */
export class MerkleTree {
  readonly #levels: Uint8Array[];

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
    let level = toLevel(values.map(sha256Hex));
    this.#levels = [level];
    while (level.length > HEX_BYTES) {
      level = toLevel(parentsOf(level));
      this.#levels.push(level);
    }
  }

  /** The root: the one hash of the last level. */
  get root(): string {
    return decoder.decode(this.#levels.at(-1));
  }

  /** How many leaves the tree has. */
  get leafCount(): number {
    return this.#level(0).length / HEX_BYTES;
  }

  /** How many levels the tree has; 1 when its only leaf is the root. */
  get height(): number {
    return this.#levels.length;
  }

  /** The hashes of a level's nodes; level 0 are the leaves. */
  hashes(level: number): string[] {
    const text = decoder.decode(this.#level(level));
    return Array.from({ length: text.length / HEX_BYTES }, (_, i) => text.slice(i * HEX_BYTES, (i + 1) * HEX_BYTES));
  }

  #level(level: number): Uint8Array {
    const hashes = this.#levels[level];
    if (hashes === undefined) throw new RangeError(`There is no level ${level} in a tree of ${this.height}.`);
    return hashes;
  }
}

function parentsOf(children: Uint8Array): string[] {
  const parents: string[] = [];
  for (let i = 0; i < children.length; i += 2 * HEX_BYTES) {
    const pair = children.subarray(i, i + 2 * HEX_BYTES);
    parents.push(sha256Hex(pair.length === HEX_BYTES ? Uint8Array.of(...pair, ...pair) : pair));
  }
  return parents;
}

function toLevel(hashes: readonly string[]): Uint8Array {
  return encoder.encode(hashes.join(""));
}
