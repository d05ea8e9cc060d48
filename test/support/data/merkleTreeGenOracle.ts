import { text } from "node:stream/consumers";
import { makeMerkle } from "./merkleTreeGen.ts";

/** The script to run. */
export const SCRIPT = import.meta.filename;

/**
 * The library that wrote the files in use. It breaks built-ins of Array, so it runs in a separate process. Lists of values
 * come in on stdin, their `merkle` objects go out on stdout, both as JSON.
 */
if (import.meta.main) {
  const lists = JSON.parse(await text(process.stdin)) as string[][];
  const written: string[] = [];
  for (const values of lists) written.push(JSON.stringify(makeMerkle(values)));
  process.stdout.write(`[${written.join(",")}]`);
}
