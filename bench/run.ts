/**
 * Runs benchmarks, prints their ratios, and records all figures:
 *
 *     npm run bench                       all, and records them in bench/results/<date>.json, docs/benchmarks.md,
 *                                         README.md and the charts
 *     npm run bench -- NAME …             these only, without recording
 *     npm run bench -- NAME … --record    these, in place of their older results
 *     npm run bench -- NAME … --json      one JSON array of results instead of tables
 *     npm run bench -- … --small          with small data, to test the benchmarks; never recorded
 *     npm run bench -- --pages            writes pages and charts again from the newest results, without a run
 *
 * A run is not recorded if other programs used more than 10 % of the cores. The exit code is 1 if a benchmark failed or
 * was not recorded, and 2 for invalid arguments.
 */
import { parseArgs } from "node:util";
import { BUSY_LIMIT } from "./runner/load.ts";
import { labelOf } from "./runner/chart.ts";
import { goalOf, isMet } from "./runner/goal.ts";
import { writePages } from "./runner/pages.ts";
import { BENCHMARKS } from "./runner/registry.ts";
import type { Ratio } from "./runner/report.ts";
import { recordResults, type Result } from "./runner/results.ts";
import { runBenchmark } from "./runner/runBenchmark.ts";

const NAMES = BENCHMARKS.map(({ name }) => name);

const { values, positionals } = readArguments();
if (values.pages) {
  await writePages();
} else {
  await runAll(positionals.length > 0 ? positionals : NAMES);
}

function readArguments() {
  try {
    const read = parseArgs({
      allowPositionals: true,
      options: {
        json: { type: "boolean", default: false },
        record: { type: "boolean", default: false },
        small: { type: "boolean", default: false },
        pages: { type: "boolean", default: false },
      },
    });
    const unknown = read.positionals.find((name) => !NAMES.includes(name));
    if (unknown === undefined) return read;
    throw new Error(`There is no benchmark "${unknown}". Choose from: ${NAMES.join(", ")}.`);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(2);
  }
}

async function runAll(names: readonly string[]): Promise<void> {
  const results: Result[] = [];
  const record = !values.small && (values.record || positionals.length === 0);
  for (const benchmark of BENCHMARKS.filter(({ name }) => names.includes(name))) {
    process.stderr.write(`${benchmark.name}: ${benchmark.about}\n`);
    try {
      const result = await runBenchmark(benchmark, values);
      results.push(result);
      if (!values.json) process.stdout.write(textOf(result));
      if (!record) continue;
      if (result.load.busy)
        throw new Error(`${benchmark.name} is not recorded. Close other programs, and run it again.`);
      recordResults([result], NAMES);
    } catch (error) {
      process.stderr.write(`${(error as Error).message}\n`);
      process.exitCode = 1;
    }
  }
  if (values.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  if (record) await writePages();
}

function textOf({ benchmark, machine, load, seconds, ratios }: Result): string {
  const { before, after, average } = load;
  const busy = `The machine was busy: other work used ${Math.round(before * 100)} % of its cores before the run and ${Math.round(after * 100)} % after it (limit ${BUSY_LIMIT * 100} %), load average ${average}.`;
  const lines = ratios.map((ratio) => `  ${labelOf(ratio.value).padStart(10)}  ${ratio.what}${resultOf(ratio)}`);
  return [`${benchmark}: ${seconds} s, ${machine}`, ...(load.busy ? [`  ${busy}`] : []), ...lines, ""].join("\n");
}

function resultOf(ratio: Ratio): string {
  const goal = goalOf(ratio);
  return goal === "" ? "" : ` (goal ${goal}: ${isMet(ratio) ? "met" : "missed"})`;
}
