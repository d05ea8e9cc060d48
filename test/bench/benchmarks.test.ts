import { expect } from "chai";
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { promisify } from "node:util";
import pMap from "p-map";
import { BENCHMARKS } from "../../bench/runner/registry.ts";
import type { Figures } from "../../bench/runner/report.ts";
import type { Result } from "../../bench/runner/results.ts";
import { runBenchmark } from "../../bench/runner/runBenchmark.ts";
import { ROOT } from "../../scripts/test/root.ts";

/** Programs outside npm that benchmarks need, by benchmark. Without its program, a benchmark is skipped. */
const NEEDED: Record<string, string> = { service: "/usr/lib/postgresql/*/bin/pgbench", engines: "/usr/bin/jsc" };

describe("npm run bench with --small", () => {
  const results = new Map<string, Result | Error>();
  const isPossible = (name: string) => globSync(NEEDED[name] ?? ROOT).length > 0;

  before(async () => {
    const run = async (benchmark: (typeof BENCHMARKS)[number]) => {
      const result = await runBenchmark(benchmark, { small: true }).catch((error: unknown) => error as Error);
      results.set(benchmark.name, result);
    };
    // Run benchmarks in parallel, because most of them wait for processes that start.
    await pMap(
      BENCHMARKS.filter(({ name }) => isPossible(name)),
      run,
      { concurrency: 3 },
    );
  });

  for (const { name, charts = [] } of BENCHMARKS) {
    it(`returns finite figures and ratios for the benchmark ${name}`, function () {
      if (!isPossible(name)) this.skip(); // pgbench and jsc are Debian packages. CI installs only jsc.
      const result = results.get(name);
      if (result === undefined || result instanceof Error) throw result ?? new Error(`${name} did not run.`);
      expect(result).to.include({ benchmark: name, command: `npm run bench -- ${name} --small` });
      expect(result.machine).to.match(/ cores, Node v/);
      expect(result.load.average).to.be.a("number");
      expect(result.ratios).not.to.be.empty;
      for (const { what, value } of result.ratios) expect(value, what).to.satisfy(Number.isFinite);
      expect(result.figures).not.to.be.empty;
      for (const { what, rows } of Object.values(result.figures)) {
        expect(rows, what).not.to.be.empty;
        for (const value of rows.flatMap((row) => Object.values(row))) expect(value, what).not.to.equal(null);
      }
      for (const { figures, x, y, series = x.column } of charts)
        expect(columnsOf(result.figures[figures])).to.include.members([x.column, y.column, series]);
    });
  }

  const runBenchmarks = (...args: string[]) =>
    promisify(execFile)(process.execPath, ["bench/run.ts", ...args], { cwd: ROOT });

  it("prints one JSON array with --json", async () => {
    const { stdout } = await runBenchmarks("gas", "--small", "--json");
    expect((JSON.parse(stdout) as Result[]).map(({ benchmark }) => benchmark)).to.deep.equal(["gas"]);
  });

  it("exits with code 2 for an unknown benchmark", async () => {
    const refused = await runBenchmarks("gass").catch((error: unknown) => error as { code: number; stderr: string });
    expect(refused).to.include({ code: 2 });
    expect(refused.stderr).to.include('There is no benchmark "gass". Choose from: tree, verify');
  });
});

function columnsOf(figures: Figures | undefined): string[] {
  return Object.keys(figures?.rows[0] ?? {});
}
