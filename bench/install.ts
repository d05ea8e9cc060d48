/**
 * Measures the time until the first verified key, from a clone of this repository and from `npm install` of the packed
 * library. The clone contains only committed files, and npm uses its cache where possible.
 *
 * The benchmark also measures `npm start` when everything is installed. It compares the time of the installed program
 * `keyroot --help` with the time of an empty script.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median, progress, report, round, type Row, SMALL } from "./runner/report.ts";
import { clone, installAndVerify, npmStart } from "./install/firstKey.ts";

const HELP_RUNS = 31;
const START_RUNS = 3;
const BLOCK = 4096;

const dir = mkdtempSync(join(tmpdir(), "keyroot-bench-"));
try {
  const tarballs = pack(SMALL ? ["keyroot"] : ["keyroot", "contracts", "operator"]);
  const firstKey: Row[] = [];

  progress("npm install keyroot");
  const library = tarballs.find((name) => /\/keyroot-\d/.test(name)) ?? "";
  const installed = await installAndVerify(library, join(dir, "library"));
  firstKey.push({ from: "npm install keyroot", seconds: round(installed) });

  const starts: { verified: number; ready: number }[] = [];
  let fromClone: number | undefined;
  // A run with small data skips this part, because the tests of the demo already run `npm start`.
  if (!SMALL) {
    progress("git clone, npm start");
    const folder = join(dir, "clone");
    const cloned = clone(folder);
    const { verified, ready } = await npmStart(folder, join(dir, "stack.json"));
    firstKey.push({ from: "git clone, npm start", seconds: round(cloned + verified) });
    fromClone = round(cloned + ready);

    progress("npm start, installed");
    for (let i = 0; i < START_RUNS; i++) starts.push(await npmStart(folder, join(dir, "stack.json")));
    firstKey.push({ from: "npm start, installed", seconds: medianOf(starts, "verified") });
  }

  const help = SMALL ? undefined : measureHelp(installProgram(tarballs));
  report({
    figures: {
      firstKey: {
        what: `s until a key is verified; npm start verifies 25 keys; median of ${START_RUNS} starts when installed`,
        rows: firstKey,
      },
      ...(help && { program: { what: "ms of a process; disk space of the install", rows: [help] } }),
    },
    ratios: [
      ...(fromClone === undefined
        ? []
        : [
            {
              what: "s from npm start, installed, until everything is up",
              ...{ value: medianOf(starts, "ready"), atMost: 7 },
            },
            { what: "s from git clone and npm start, until everything is up", value: fromClone, atMost: 35 },
          ]),
      { what: "s from npm install keyroot to the first verified key", value: round(installed) },
      ...(help === undefined
        ? []
        : [{ what: "keyroot --help, relative to an empty script", value: round(help.helpMs / help.emptyScriptMs) }]),
    ],
  });
} finally {
  rmSync(dir, { recursive: true });
}

function medianOf(starts: readonly { verified: number; ready: number }[], of: "verified" | "ready"): number {
  return round(median(starts.map((start) => start[of])));
}

/** Packs packages. @returns the paths of the tarballs */
function pack(names: readonly string[]): string[] {
  const script = fileURLToPath(new URL("../scripts/package/packPackages.ts", import.meta.url));
  const output = execFileSync(process.execPath, [script, ...names, "--out", dir], { encoding: "utf8" });
  return output.trim().split("\n");
}

/** Installs the packed packages in an empty folder. */
function installProgram(tarballs: readonly string[]): string {
  progress("keyroot --help");
  const app = join(dir, "program");
  mkdirSync(app);
  writeFileSync(join(app, "package.json"), "{}");
  execFileSync("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", ...tarballs], {
    ...{ cwd: app, stdio: "ignore" },
  });
  return app;
}

function measureHelp(app: string) {
  const cli = join(app, "node_modules", "@keyroot", "operator", "dist", "cli.js");
  writeFileSync(join(app, "empty.mjs"), "");
  const times: Record<"help" | "empty", number[]> = { help: [], empty: [] };
  // Measure both in alternation, so that other work slows both down equally.
  for (let i = 0; i < HELP_RUNS; i++) {
    times.empty.push(timeOf(join(app, "empty.mjs")));
    times.help.push(timeOf(cli, "--help"));
  }
  return {
    helpMs: round(median(times.help)),
    emptyScriptMs: round(median(times.empty)),
    megabytes: round(diskSpaceOf(join(app, "node_modules")) / 2 ** 20),
    packages: readdirSync(join(app, "node_modules"), { recursive: true, encoding: "utf8" }).filter((path) =>
      /(?:^|node_modules\/)(?:@[^/]+\/)?[^/@.][^/]*\/package\.json$/.test(path),
    ).length,
  };
}

/** Returns the run time of a process in ms. */
function timeOf(...args: string[]): number {
  const start = performance.now();
  execFileSync(process.execPath, args);
  return performance.now() - start;
}

function diskSpaceOf(folder: string): number {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return paths.reduce((sum, path) => sum + Math.ceil(statSync(join(folder, path)).size / BLOCK) * BLOCK, 0);
}
