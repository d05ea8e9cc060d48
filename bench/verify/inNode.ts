/**
 * Verifies one user in one way in this process, and prints the time in ms:
 *
 *     node bench/verify/inNode.ts cold WAY LIBRARY FOLDER    one verification, with the time to load the library
 *     node bench/verify/inNode.ts warm WAY LIBRARY FOLDER    median of many runs
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inputOf, load, type Sample, type Way } from "./ways.ts";

/** The total time of the warm runs in ms. Their number also has a minimum and a maximum. */
const TOTAL_MS = Number(process.env["BENCH_TOTAL_MS"] ?? 1000);

const [, , temperature, name, library = "", folder = ""] = process.argv;
const way = name as Way;
const sample = JSON.parse(readFileSync(join(folder, "sample.json"), "utf8")) as Sample;

const start = performance.now();
const verify = await load(way, library, sample);
const bytes = readFileSync(join(folder, `${inputOf(way)}.json`));
await verify(bytes);
const first = performance.now() - start;
process.stdout.write(String(temperature === "cold" ? first : await typicalTime(() => verify(bytes))));

/** Computes the median without methods of Array, because merkle-tree-gen replaces these methods. */
async function typicalTime(work: () => unknown): Promise<number> {
  const once = await timeOf(work);
  const runs = Math.min(1000, Math.max(3, Math.ceil(TOTAL_MS / once)));
  for (let i = 0; i < Math.min(runs, TOTAL_MS / once); i++) await work();
  const times = new Float64Array(runs);
  for (let i = 0; i < runs; i++) times[i] = await timeOf(work);
  return times.sort()[runs >> 1] ?? NaN;
}

async function timeOf(work: () => unknown): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}
