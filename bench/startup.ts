/**
 * Measures how long the installed program `keyroot --help` takes, next to an empty Node script, and how much disk space the
 * install needs. Packs the packages and installs them with npm in an empty folder.
 *
 *     node bench/startup.ts        prints the figures and writes them to bench/startup.json
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const RUNS = 31;
const BLOCK = 4096;
const PACKAGES = ["keyroot", "contracts", "operator"];

const dir = mkdtempSync(join(tmpdir(), "keyroot-bench-"));
try {
  const figures = measure(install(dir));
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
  writeFileSync(new URL("startup.json", import.meta.url), `${JSON.stringify(figures, null, 2)}\n`);
} finally {
  rmSync(dir, { recursive: true });
}

/** Installs the packed packages in an empty folder. */
function install(dir: string): string {
  const script = fileURLToPath(new URL("../scripts/packPackages.ts", import.meta.url));
  execFileSync(process.execPath, [script, ...PACKAGES, "--out", dir]);
  const tarballs = readdirSync(dir).filter((name) => name.endsWith(".tgz"));
  const app = join(dir, "app");
  mkdirSync(app);
  writeFileSync(join(app, "package.json"), "{}");
  const args = ["install", "--prefer-offline", "--no-audit", "--no-fund", ...tarballs.map((name) => join(dir, name))];
  execFileSync("npm", args, { cwd: app, stdio: "ignore" });
  return app;
}

function measure(app: string): object {
  const cli = join(app, "node_modules", "@keyroot", "operator", "dist", "cli.js");
  writeFileSync(join(app, "empty.mjs"), "");
  const times: Record<"help" | "empty", number[]> = { help: [], empty: [] };
  // Alternating, so that other work on the machine slows both down alike.
  for (let i = 0; i < RUNS; i++) {
    times.empty.push(timeOf(join(app, "empty.mjs")));
    times.help.push(timeOf(cli, "--help"));
  }
  const [help, empty] = [median(times.help), median(times.empty)];
  return {
    machine: `${cpus()[0]?.model.split(" ").slice(0, 2).join(" ") ?? "unknown"}, ${cpus().length} cores, Node ${process.version}`,
    command: "node bench/startup.ts",
    help: { what: "median ms of a process", keyrootHelp: help, emptyScript: empty, ratio: round(help / empty, 2) },
    install: {
      what: "disk space of node_modules without the optional packages, in blocks of 4 KiB",
      megabytes: round(diskSpaceOf(join(app, "node_modules")) / 2 ** 20, 1),
      packages: readdirSync(join(app, "node_modules"), { recursive: true, encoding: "utf8" }).filter((path) =>
        /(?:^|node_modules\/)(?:@[^/]+\/)?[^/@.][^/]*\/package\.json$/.test(path),
      ).length,
    },
  };
}

/** Milliseconds from the start of a process to its end. */
function timeOf(...args: string[]): number {
  const start = performance.now();
  execFileSync(process.execPath, args);
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return round(values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN, 1);
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

function diskSpaceOf(folder: string): number {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return paths.reduce((sum, path) => sum + Math.ceil(statSync(join(folder, path)).size / BLOCK) * BLOCK, 0);
}
