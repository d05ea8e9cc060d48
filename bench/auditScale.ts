/**
 * Measures the command `audit` for millions of users, first over all files and then over new files only. A separate
 * process (`auditScale/source.ts`) generates the chain's log and the files, and serves them over HTTP.
 *
 * `node bench/auditScale.ts USERS …` measures other numbers of users, in ascending order. A million users need 1 GB of
 * disk space. The benchmark needs Linux, because it reads /proc.
 */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild } from "../test/support/processes/childProcess.ts";
import { outcomeOf, program } from "../test/support/processes/commandLine.ts";
import { type ProcessSample, sampleOf } from "./runner/processSample.ts";
import { progress, report, round, type Row, SMALL } from "./runner/report.ts";
import { CHAIN_ID, CONTRACT, type ScaleRequest, type ScaleSource } from "./auditScale/source.ts";

const numbers = process.argv.slice(2).map(Number).filter(Boolean);
const SIZES = numbers.length > 0 ? numbers : SMALL ? [1400] : [1_000_000, 5_000_000, 20_000_000];
/** The share of users that are added before the run that reads only new files. */
const NEW_SHARE = SMALL ? 0.5 : 0.01;
/** The number of names in a folder to list: the number of files for 100 million users. */
const NAMES = SMALL ? 10 : 142_858;
const SAMPLE_MS = 50;

/** One run of the command. */
interface Run extends Row {
  users: number;
  run: string;
  /** The number of files that the command read. */
  files: number;
  seconds: number;
  cpuSeconds: number;
  /** The peak of resident memory. */
  mebibytes: number;
}

const dir = await mkdtemp(join(tmpdir(), "keyroot-bench-"));
const files = join(dir, "files");
await mkdir(files);
const source = startChild<ScaleRequest, ScaleSource>(new URL("auditScale/source.ts", import.meta.url));
try {
  const runs: Run[] = [];
  const sizes: Row[] = [];
  for (const users of SIZES) {
    const { url, bytes } = await generate(users);
    const target = ["--rpc", url, "--chain-id", String(CHAIN_ID), "--contract", CONTRACT, "--merkle-url", url];
    const state = join(dir, "state.sqlite");
    runs.push(await audit(users, "all files", [...target, "--state", state]));
    sizes.push({ users, files: inMiB(bytes), state: inMiB((await stat(state)).size) });
    const more = Math.ceil(users * (1 + NEW_SHARE));
    await generate(more);
    runs.push(await audit(more, "new files", [...target, "--state", state, "--skip-known-files"]));
    await rm(state);
  }
  const whole = runs.filter(({ run }) => run === "all files");
  const [first, last] = [whole[0], whole.at(-1)];
  if (first === undefined || last === undefined) throw new Error("There are no sizes.");
  report({
    figures: {
      runs: {
        what: "one process of the command, with the source of the data on the same cores: files that it read, s, s of processor time, and the peak of resident memory in MiB",
        rows: runs,
      },
      sizes: { what: "MiB of all files, and of the state", rows: sizes },
      listing: { what: "ms to list a folder of empty files", rows: [await measureListing(NAMES)] },
    },
    ratios: [
      {
        what: `processor time per user of the audit of ${last.users.toLocaleString("en")} users, relative to ${first.users.toLocaleString("en")}`,
        value: round(last.cpuSeconds / last.users / (first.cpuSeconds / first.users)),
        atMost: 1.1,
      },
      { what: "MiB of memory at the most", value: Math.max(...runs.map(({ mebibytes }) => mebibytes)), atMost: 1024 },
    ],
  });
} finally {
  await source[Symbol.asyncDispose]();
  await rm(dir, { recursive: true });
}

async function generate(users: number): Promise<ScaleSource> {
  progress(`generating files of ${users} users`);
  return source.send({ dir: files, users });
}

/**
 * Runs the command, and measures its process.
 * @throws Error if the audit has not passed
 */
async function audit(users: number, name: string, options: readonly string[]): Promise<Run> {
  progress(`${name}, ${users} users`);
  const start = performance.now();
  const child = program.start(["audit", ...options, "--json"]);
  let last: ProcessSample = { cpuSeconds: 0, residentMB: 0 };
  const watch = setInterval(() => {
    const now = sampleOf(child.pid ?? 0);
    if (now.residentMB > 0) last = now;
  }, SAMPLE_MS);
  child.once("exit", () => {
    clearInterval(watch);
  });
  const { code, stdout, stderr } = await outcomeOf(child);
  const seconds = round((performance.now() - start) / 1000);
  if (code !== 0) throw new Error(stderr || stdout.slice(0, 1000));
  const { filesRead, filesKnown } = JSON.parse(stdout) as { filesRead: number; filesKnown: number };
  const { cpuSeconds, residentMB } = last;
  return { users, run: name, files: filesRead - filesKnown, seconds, cpuSeconds, mebibytes: Math.round(residentMB) };
}

/** Lists a folder with this number of names. */
async function measureListing(names: number): Promise<Row> {
  const folder = join(dir, "names");
  await mkdir(folder);
  for (let i = 0; i < names; i++) writeFileSync(join(folder, `${randomBytes(32).toString("hex")}.json`), "");
  const [start, before] = [performance.now(), process.cpuUsage()];
  await readdir(folder, { withFileTypes: true });
  const { user, system } = process.cpuUsage(before);
  return { names, ms: Math.round(performance.now() - start), cpuMs: Math.round((user + system) / 1000) };
}

function inMiB(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
