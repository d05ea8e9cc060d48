import { createRequire } from "node:module";
import { text } from "node:stream/consumers";

/** The used part of `merkle-tree-gen`, a package without types. */
interface MerkleTreeGen {
  fromArray(args: { array: string[]; hashalgo: string }, done: (error: unknown, merkle: object) => void): void;
}

const require = createRequire(import.meta.url);

/** The script to run. */
export const SCRIPT = import.meta.filename;

/**
 * The library that wrote the files in use. It breaks built-ins of Array, so it runs in a separate process. Lists of values
 * come in on stdin, their `merkle` objects go out on stdout, both as JSON.
 */
if (import.meta.main) {
  const lists = JSON.parse(await text(process.stdin)) as string[][];
  const merkleTreeGen = require("merkle-tree-gen") as MerkleTreeGen;
  const written: string[] = [];
  for (const array of lists) {
    merkleTreeGen.fromArray({ array, hashalgo: "sha256" }, (error, merkle) => {
      if (error) throw new Error(JSON.stringify(error));
      written.push(JSON.stringify(merkle));
    });
  }
  process.stdout.write(`[${written.join(",")}]`);
}
