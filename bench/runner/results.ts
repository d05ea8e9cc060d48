import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Load } from "./load.ts";
import type { Measured } from "./report.ts";

export interface Result extends Measured {
  benchmark: string;
  /** The command that repeats the measurement. */
  command: string;
  /** The date of the run as YYYY-MM-DD. */
  date: string;
  machine: string;
  load: Load;
  seconds: number;
}

const FOLDER = new URL("../results/", import.meta.url);
const FILE_NAME = /^\d{4}-\d{2}-\d{2}\.json$/;

/**
 * Reads the newest results file. Its name is its date, and it contains the last result of each benchmark in the order
 * of the registry.
 */
export function newestResults(): { name: string; results: Result[] } {
  const name = readdirSync(FOLDER)
    .filter((file) => FILE_NAME.test(file))
    .sort()
    .at(-1);
  if (name === undefined) return { name: "", results: [] };
  const { results } = JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")) as { results: Result[] };
  return { name, results };
}

/** Returns the newest result of a benchmark. @throws Error if there is none */
export function newestResult(benchmark: string): Result {
  const found = newestResults().results.find((result) => result.benchmark === benchmark);
  if (found === undefined) throw new Error(`No result of ${benchmark}. Run: npm run bench -- ${benchmark} --record`);
  return found;
}

/**
 * Writes results to the file of the current date. For benchmarks that did not run, the file contains their newest
 * earlier results, so it is always complete.
 * @param order the names of all benchmarks
 * @returns the file's path in the project
 */
export function recordResults(measured: readonly Result[], order: readonly string[]): string {
  const byName = new Map([...newestResults().results, ...measured].map((result) => [result.benchmark, result]));
  const results = order.flatMap((name) => byName.get(name) ?? []);
  const name = `${today()}.json`;
  writeFileSync(new URL(name, FOLDER), `${JSON.stringify({ results }, null, 2)}\n`);
  return `bench/results/${name}`;
}

/** Returns the current date as YYYY-MM-DD. */
export function today(): string {
  return new Date().toISOString().slice(0, "YYYY-MM-DD".length);
}
