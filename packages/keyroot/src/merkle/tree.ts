import { ArgumentError } from "../errors.ts";
import { invalidArgument } from "../input/options.ts";
import { hashChildren, hashLeaf } from "./hash.ts";

/** Maximum number of values in a tree. Its hashes then take about 128 MB. */
export const MAX_VALUES = 1_000_000;

/** The length of a hash in hex digits. */
const HASH_CHARACTERS = 64;

/**
 * A Merkle tree of 1 to 1,000,000 values. Level 0 contains the leaves, and every other level the parents of the level
 * below, up to the root. If a level has an odd number of nodes, its last node is paired with itself. `hashLeaf` and
 * `hashChildren` define the hashes.
 * @example
 * new MerkleTree(["a", "b", "c"]).root; // "0bdf27bf7ec894ca7cadfe491ec1a3ece840f117989e8c5e9bd7086467bf6c38"
 */
export class MerkleTree {
  /** The hashes of each level as one text, which takes less memory than one text per hash. */
  private readonly levels: string[];

  /**
   * @param values the texts to hash as leaves
   * @throws ArgumentError TREE_EMPTY, TREE_TOO_LARGE, ARGUMENT_INVALID
   */
  constructor(values: readonly string[]) {
    checkValues(values);
    let level = values.map((value) => hashLeaf(value)).join("");
    this.levels = [level];
    while (level.length > HASH_CHARACTERS) {
      level = hashParents(level).join("");
      this.levels.push(level);
    }
  }

  /** The root of the tree, 64 lowercase hex digits. */
  get root(): string {
    return this.joinedHashes(this.height - 1);
  }

  /** The number of leaves in the tree. */
  get leafCount(): number {
    return this.joinedHashes(0).length / HASH_CHARACTERS;
  }

  /** The number of levels. A tree with one leaf has one level, because its leaf is also the root. */
  get height(): number {
    return this.levels.length;
  }

  /**
   * Returns the hashes of a level, each with 64 lowercase hex digits.
   * @param level 0 for the leaves
   * @throws ArgumentError ARGUMENT_INVALID
   */
  hashes(level: number): string[] {
    const joined = this.joinedHashes(level);
    const hashes = new Array<string>(joined.length / HASH_CHARACTERS);
    for (let i = 0; i < hashes.length; i++) hashes[i] = hashAt(joined, i);
    return hashes;
  }

  /**
   * Returns the hashes of a level as one text without separators, which `hashAt` reads.
   * @throws ArgumentError ARGUMENT_INVALID
   */
  joinedHashes(level: number): string {
    const hashes = this.levels[level];
    if (hashes !== undefined) return hashes;
    throw invalidArgument("The level", `a whole number from 0 to ${this.height - 1}`, level);
  }
}

function checkValues(values: unknown): void {
  if (!Array.isArray(values)) throw invalidArgument("The values argument", "an array of strings", values);
  if (values.length === 0) throw new ArgumentError("TREE_EMPTY", "A tree needs at least one value.");
  if (values.length > MAX_VALUES) {
    const message = `A tree has at most ${MAX_VALUES} values, but there are ${values.length}. Make several trees.`;
    throw new ArgumentError("TREE_TOO_LARGE", message, { expected: MAX_VALUES, actual: values.length });
  }
  for (let i = 0; i < values.length; i++)
    if (typeof values[i] !== "string") throw invalidArgument(`values[${i}]`, "a string", values[i]);
}

/** Returns one hash from the result of `joinedHashes`, or an empty text if the index is too high. */
export function hashAt(joinedHashes: string, index: number): string {
  return joinedHashes.slice(index * HASH_CHARACTERS, (index + 1) * HASH_CHARACTERS);
}

function hashParents(children: string): string[] {
  const parents: string[] = [];
  for (let i = 0; i < children.length / HASH_CHARACTERS; i += 2) {
    const left = hashAt(children, i);
    parents.push(hashChildren(left, hashAt(children, i + 1) || left));
  }
  return parents;
}
