import { text } from "node:stream/consumers";
import { makeMerkle } from "./merkleTreeGen.ts";

/** The script to run. */
export const SCRIPT = import.meta.filename;

/**
 * Runs the library that wrote the files in use, in a separate process because it breaks built-ins of Array. The program
 * reads lists of values from standard input, and writes their `merkle` objects to standard output, both as JSON.
 */
if (import.meta.main) {
  const lists = JSON.parse(await text(process.stdin)) as string[][];
  const written: string[] = [];
  for (const values of lists) written.push(JSON.stringify(makeMerkle(values)));
  process.stdout.write(`[${written.join(",")}]`);
}
