/**
 * Measures what it costs to import an entry of the library in a new process: the median time of `node` with a script
 * that imports the entry, less the median time of `node` with an empty script.
 *
 * `node bench/import.ts` measures the source entries. `node bench/import.ts FOLDER…` measures packages, built or not,
 * each by the `exports` of its package.json; give two folders to compare them in one run. `--runs N` sets how many
 * processes are started for each entry (default 25), `--json` prints one object instead of a table.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const ENTRIES = [".", "./bundle", "./partner", "./user"];
const WARM_UP = 2;

/** A script to run in a process of its own. */
interface Script {
  folder: string;
  entry: string;
  path: string;
  times: number[];
}

const { values, positionals } = parseArgs({
  options: { json: { type: "boolean", default: false }, runs: { type: "string", default: "25" } },
  allowPositionals: true,
});
const runs = Number(values.runs);
if (!Number.isSafeInteger(runs) || runs < 1)
  throw new RangeError(`--runs must be a whole number from 1, not ${values.runs}.`);
const source = fileURLToPath(new URL("../packages/keyroot", import.meta.url));
const folders = positionals.length === 0 ? [source] : positionals.map((folder) => resolve(folder));

const dir = mkdtempSync(join(tmpdir(), "keyroot-bench-"));
try {
  const empty = writeScript("empty.mjs", "");
  const scripts = folders.flatMap((folder, i) =>
    ENTRIES.map((entry, j): Script => {
      const text = `import ${JSON.stringify(addressOf(folder, entry))};\n`;
      return { folder, entry, path: writeScript(`${i}-${j}.mjs`, text), times: [] };
    }),
  );
  const emptyTimes: number[] = [];
  // All scripts take turns, so that a busy machine slows all of them alike.
  for (let run = -WARM_UP; run < runs; run++) {
    const emptyTime = timeOf(empty);
    const times = scripts.map(({ path }) => timeOf(path));
    if (run < 0) continue;
    emptyTimes.push(emptyTime);
    for (const [i, time] of times.entries()) scripts[i]?.times.push(time);
  }
  const figures = {
    machine: `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} cores, Node ${process.version}`,
    command: "node bench/import.ts",
    what: `ms to import an entry in a new process, less an empty script's: median and quickest of ${runs} runs`,
    emptyScript: { median: round(median(emptyTimes)), quickest: round(Math.min(...emptyTimes)) },
    entries: scripts.map(({ folder, entry, times }) => ({
      folder: relative(process.cwd(), folder) || ".",
      entry: entry.replace(/^\./, "keyroot"),
      median: round(median(times) - median(emptyTimes)),
      quickest: round(Math.min(...times) - Math.min(...emptyTimes)),
    })),
  };
  if (values.json) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
  else {
    process.stdout.write(`${figures.what}\n${figures.machine}; empty script ${figures.emptyScript.median} ms\n`);
    for (const { folder, entry, median, quickest } of figures.entries) {
      process.stdout.write(
        `${entry.padEnd(16)} ${median.toFixed(1).padStart(6)} ${quickest.toFixed(1).padStart(6)}  ${folder}\n`,
      );
    }
  }
} finally {
  rmSync(dir, { recursive: true });
}

function writeScript(name: string, text: string): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}

/** The address of an entry's module, as Node finds it in the folder's package.json. */
function addressOf(folder: string, entry: string): string {
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    exports: Record<string, unknown>;
  };
  const path = pathOf(exports[entry]);
  if (path === undefined) throw new Error(`The package in ${folder} has no entry ${entry}.`);
  return pathToFileURL(join(folder, path)).href;
}

/** The path of a target (Node.js, "Conditional exports"): the first condition that holds in Node. */
function pathOf(target: unknown): string | undefined {
  if (typeof target === "string") return target;
  if (typeof target !== "object" || target === null) return undefined;
  const match = Object.entries(target).find(([condition]) => ["node", "import", "default"].includes(condition));
  return pathOf(match?.[1]);
}

function timeOf(path: string): number {
  const start = performance.now();
  execFileSync(process.execPath, [path]);
  return performance.now() - start;
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return ((sorted[middle] ?? NaN) + (sorted[sorted.length % 2 === 0 ? middle - 1 : middle] ?? NaN)) / 2;
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
