/**
 * Measures what it costs to import an entry of the library in a new process: the median time of `node` with a script
 * that imports the entry, less the median time of `node` with an empty script. It prints the elapsed time, and the time
 * of the processor, which depends less on other processes.
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
/** Runs at the end of each script. */
const REPORT = "const { user, system } = process.cpuUsage();\nprocess.stdout.write(`${(user + system) / 1000}`);\n";

/** A script, and how long its processes took in ms. */
interface Script {
  path: string;
  elapsed: number[];
  processor: number[];
}

const { values, positionals } = parseArgs({
  options: { json: { type: "boolean", default: false }, runs: { type: "string", default: "25" } },
  allowPositionals: true,
});
const runs = Number(values.runs);
if (!Number.isSafeInteger(runs) || runs < 1) {
  throw new RangeError(`--runs must be a whole number from 1, not ${values.runs}.`);
}
const source = fileURLToPath(new URL("../packages/keyroot", import.meta.url));
const folders = positionals.length === 0 ? [source] : positionals.map((folder) => resolve(folder));

const dir = mkdtempSync(join(tmpdir(), "keyroot-bench-"));
try {
  const empty = makeScript("empty.mjs", "");
  const imports = folders.flatMap((folder, i) =>
    ENTRIES.map((entry, j) => {
      const script = makeScript(`${i}-${j}.mjs`, `import ${JSON.stringify(addressOf(folder, entry))};\n`);
      return { folder, entry, script };
    }),
  );
  for (let run = 0; run < WARM_UP; run++) for (const { script } of imports) measure(script);
  for (const { script } of imports) Object.assign(script, { elapsed: [], processor: [] });
  // All scripts take turns, so that other processes slow all of them alike.
  for (let run = 0; run < runs; run++)
    for (const script of [empty, ...imports.map(({ script }) => script)]) measure(script);

  const figures = {
    machine: `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} cores, Node ${process.version}`,
    command: "node bench/import.ts",
    what: `ms to import an entry in a new process, less an empty script's: medians of ${runs} runs`,
    emptyScript: { elapsed: round(median(empty.elapsed)), processor: round(median(empty.processor)) },
    entries: imports.map(({ folder, entry, script }) => ({
      folder: relative(process.cwd(), folder) || ".",
      entry: entry.replace(/^\./, "keyroot"),
      elapsed: round(median(script.elapsed) - median(empty.elapsed)),
      processor: round(median(script.processor) - median(empty.processor)),
    })),
  };
  process.stdout.write(values.json ? `${JSON.stringify(figures, null, 2)}\n` : toTable(figures));
} finally {
  rmSync(dir, { recursive: true });
}

interface Figures {
  machine: string;
  what: string;
  emptyScript: { elapsed: number; processor: number };
  entries: { folder: string; entry: string; elapsed: number; processor: number }[];
}

function toTable({ machine, what, emptyScript, entries }: Figures): string {
  const row = (entry: string, elapsed: string | number, processor: string | number, folder: string) =>
    `${entry.padEnd(16)} ${String(elapsed).padStart(8)} ${String(processor).padStart(10)}  ${folder}`.trimEnd();
  const rows = entries.map(({ entry, elapsed, processor, folder }) => row(entry, elapsed, processor, folder));
  const empty = row("(empty script)", emptyScript.elapsed, emptyScript.processor, "");
  return `${[what, machine, "", row("entry", "elapsed", "processor", "package"), ...rows, empty].join("\n")}\n`;
}

function makeScript(name: string, text: string): Script {
  const path = join(dir, name);
  writeFileSync(path, text + REPORT);
  return { path, elapsed: [], processor: [] };
}

/** The address of an entry's module, as Node finds it in the folder's package.json. */
function addressOf(folder: string, entry: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    exports: Record<string, unknown>;
  };
  const path = pathOf(manifest.exports[entry]);
  if (path === undefined) throw new Error(`The package in ${folder} has no entry ${entry}.`);
  return pathToFileURL(join(folder, path)).href;
}

/** The path of a target (Node.js, "Conditional exports"): that of the first condition that Node fulfils. */
function pathOf(target: unknown): string | undefined {
  if (typeof target === "string") return target;
  if (typeof target !== "object" || target === null) return undefined;
  const match = Object.entries(target).find(([condition]) => ["node", "import", "default"].includes(condition));
  return pathOf(match?.[1]);
}

function measure({ path, elapsed, processor }: Script): void {
  const start = performance.now();
  const output = execFileSync(process.execPath, [path], { encoding: "utf8" });
  elapsed.push(performance.now() - start);
  processor.push(Number(output));
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return ((sorted[middle] ?? NaN) + (sorted[sorted.length % 2 === 0 ? middle - 1 : middle] ?? NaN)) / 2;
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
