/**
 * Measures what it costs to import an entry of the library in a new process: the median time of `node` with a script
 * that imports the entry, less the median time of `node` with an empty script. It prints the elapsed time, and the time
 * of the processor, which depends less on other processes.
 *
 * It measures the packed library. `node bench/import.ts FOLDER…` measures packages, built or not, each by the `exports` of its
 * package.json; give two folders to compare them in one run.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { median, report, round, SMALL } from "./runner/report.ts";

const ENTRIES = [".", "./bundle", "./partner", "./user"];
const WARM_UP = SMALL ? 0 : 2;
const RUNS = SMALL ? 1 : 25;
const SOURCE = fileURLToPath(new URL("../packages/keyroot", import.meta.url));
/** Runs at the end of each script. */
const REPORT = "const { user, system } = process.cpuUsage();\nprocess.stdout.write(`${(user + system) / 1000}`);\n";

/** A script, and how long its processes took in ms. */
interface Script {
  path: string;
  elapsed: number[];
  processor: number[];
}

const dir = mkdtempSync(join(tmpdir(), "keyroot-bench-"));
try {
  const named = process.argv.slice(2).filter((word) => word !== "--small");
  const folders = named.length > 0 ? named.map((folder) => resolve(folder)) : [SMALL ? SOURCE : pack()];
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
  for (let run = 0; run < RUNS; run++)
    for (const script of [empty, ...imports.map(({ script }) => script)]) measure(script);

  const [elapsed, processor] = [median(empty.elapsed), median(empty.processor)];
  const rows = imports.map(({ folder, entry, script }) => ({
    entry: entry.replace(/^\./, "keyroot"),
    ...(folders.length > 1 && { folder: basename(folder) }),
    elapsedMs: round(median(script.elapsed) - elapsed),
    processorMs: round(median(script.processor) - processor),
  }));
  report({
    figures: {
      entries: {
        what: `ms to import an entry in a new process, less an empty script's ${round(elapsed)} ms and ${round(processor)} ms of the processor: medians of ${RUNS} runs`,
        rows,
      },
    },
    ratios: rows.map((row, i) => ({
      what: `a process that imports ${row.entry}, relative to an empty one (processor time)`,
      value: round(median(imports[i]?.script.processor ?? []) / processor),
    })),
  });
} finally {
  rmSync(dir, { recursive: true });
}

/** Packs the library as people install it. @returns its folder */
function pack(): string {
  const script = fileURLToPath(new URL("../scripts/packPackages.ts", import.meta.url));
  execFileSync(process.execPath, [script, "keyroot", "--out", dir]);
  return join(dir, "keyroot");
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
