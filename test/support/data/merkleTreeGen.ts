import { createRequire } from "node:module";

/** The used part of `merkle-tree-gen`, a package without types. */
interface MerkleTreeGen {
  fromArray: (
    args: { array: readonly string[]; hashalgo: string },
    done: (error: unknown, merkle: { root: string }) => void,
  ) => void;
}

const require = createRequire(import.meta.url);
const { fromArray } = require("merkle-tree-gen") as MerkleTreeGen;

/**
 * Builds a tree with the library that wrote the files in use. The first tree replaces methods of Array in the whole
 * process.
 * @returns the file's `merkle` object
 */
export function makeMerkle(values: readonly string[]): { root: string } {
  let made: { root: string } | undefined;
  fromArray({ array: values, hashalgo: "sha256" }, (cause, merkle) => {
    if (cause) throw new Error("merkle-tree-gen failed.", { cause });
    made = merkle;
  });
  if (made === undefined) throw new Error("merkle-tree-gen did not finish.");
  return made;
}
