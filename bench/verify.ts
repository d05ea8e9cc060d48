/**
 * Measures the time to verify one user with the whole file, a proof or a bundle. It does so in a new process, in a warm
 * process and in Chromium. It also measures the first verification of a page with a slow processor. The measured
 * library is the packed package.
 *
 * For comparison, the same run measures `JSON.parse` of the file, the least work of any verifier in a new process, and
 * the method of the format's first clients, which rebuild the tree with the npm package merkle-tree-gen.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median, progress, report, round, type Row, SMALL } from "./runner/report.ts";
import { measureFirstInPage, SLOWDOWN } from "./verify/firstInPage.ts";
import { measureInChromium } from "./verify/inChromium.ts";
import { writeSample } from "./verify/samples.ts";
import { type Way, WAYS } from "./verify/ways.ts";

/** The number of users in a file with the publisher's default. */
const DEFAULT_USERS = SMALL ? 1 : 64;
const SIZES = SMALL ? [1, 20] : [1, 10, DEFAULT_USERS, 100, 700, 10_000, 100_000];
/** The number of users in a typical file of a deployment, which the runs in a new process use. */
const USERS = SMALL ? 20 : 700;
/** The goals in ms to verify one user in a warm process, for a file of the default size and for a typical file. */
const GOALS = { node: { [DEFAULT_USERS]: 0.5, [USERS]: 4 }, chromium: { [DEFAULT_USERS]: 0.6, [USERS]: 6.5 } };
const COLD_RUNS = SMALL ? 1 : 15;
const COLD_WAYS: readonly Way[] = ["file", "proof", "bundle", "firstClients", "treeHashes", "parse"];
const WARM_WAYS: readonly Way[] = ["file", "path", "proof", "bundle", "firstClients", "parse"];
const TOTAL_MS = SMALL ? 5 : 1000;

const dir = mkdtempSync(join(tmpdir(), "keyroot-bench-"));
try {
  const library = SMALL ? fileURLToPath(new URL("../packages/keyroot/src", import.meta.url)) : pack();
  const folders = new Map(SIZES.map((users) => [users, join(dir, String(users))]));
  for (const [users, folder] of folders) writeSample(folder, users);

  progress("cold");
  const cold = new Map(COLD_WAYS.map((way) => [way, [] as number[]]));
  for (let i = 0; i < COLD_RUNS; i++)
    for (const [way, times] of cold) times.push(inNewProcess("cold", way, library, folders.get(USERS)));
  const coldOf = (way: Way) => median(cold.get(way) ?? []);

  const warm: Row[] = [];
  for (const [users, folder] of folders) {
    progress(`warm, ${users} users`);
    for (const way of WARM_WAYS)
      warm.push({ users, what: WAYS[way], ms: round(inNewProcess("warm", way, library, folder)) });
  }
  const warmGoals = (where: string, rows: readonly Row[], column: string, goals: Readonly<Record<number, number>>) =>
    Object.entries(goals).map(([users, atMost]) => {
      const row = rows.find((row) => row["users"] === Number(users) && row["what"] === WAYS.file);
      return { what: `ms to verify one of ${users} users in ${where}, warm`, value: Number(row?.[column]), atMost };
    });
  const warmOf = (way: Way) => Number(warm.find((row) => row["users"] === USERS && row["what"] === WAYS[way])?.["ms"]);

  progress("Chromium");
  const chromium = await measureInChromium({ library, folders, coldRuns: SMALL ? 1 : 5, totalMs: TOTAL_MS });

  progress("first verification in a page");
  const folder = folders.get(DEFAULT_USERS) ?? "";
  const firstInPage = await measureFirstInPage({ library, folder, runs: COLD_RUNS });

  report({
    figures: {
      cold: {
        what: `ms in a new process for one of ${USERS} users, including the time to load the library and the file: median of ${COLD_RUNS}`,
        rows: COLD_WAYS.map((way) => ({ what: WAYS[way], ms: round(coldOf(way)) })),
      },
      node: { what: "ms for one user in Node, warm: median", rows: warm },
      chromium: {
        what: "ms for one user in Chromium: cold in a new context, including the time to load the library; warm",
        rows: chromium,
      },
      page: {
        what: `ms from the start of the download of the code to the key of one of ${DEFAULT_USERS} users, in a new page in Chromium with a processor ${SLOWDOWN} times as slow: median of ${COLD_RUNS}`,
        rows: [
          { by: "Keyroot, one endpoint", ms: round(firstInPage.keyroot) },
          { by: "readContract of viem and a download, unchecked", ms: round(firstInPage.viem) },
        ],
      },
      bytes: {
        what: "bytes to fetch, without compression; the bundle's storage proofs are as deep as on mainnet",
        rows: [...folders].flatMap(([users, folder]) =>
          (["file", "proof", "bundle"] as const).map((input) => {
            return { users, what: WAYS[input], bytes: statSync(join(folder, `${input}.json`)).size };
          }),
        ),
      },
    },
    ratios: [
      ...warmGoals("Node", warm, "ms", GOALS.node),
      ...warmGoals("Chromium", chromium, "warmMs", GOALS.chromium),
      {
        what: `ms to verify one of ${DEFAULT_USERS} users for the first time in a page, with the download of the code, in Chromium with a processor ${SLOWDOWN} times as slow`,
        ...{ value: round(firstInPage.keyroot), atMost: 60 },
      },
      {
        what: "the same time, relative to an unchecked read with viem and a download",
        value: round(firstInPage.keyroot / firstInPage.viem),
      },
      { what: `ms to verify one of ${USERS} users in a new process`, value: round(coldOf("file")) },
      {
        what: "the first clients' time in a new process, relative to Keyroot's",
        ...{ value: round(coldOf("firstClients") / coldOf("file")), atLeast: 1 },
      },
      {
        what: `verifying one of ${USERS} users in a new process, relative to loading node:crypto, JSON.parse and hashes of the tree`,
        ...{ value: round(coldOf("file") / coldOf("treeHashes")) },
      },
      {
        what: `verifying one of ${USERS} users, warm, relative to JSON.parse of the file`,
        ...{ value: round(warmOf("file") / warmOf("parse")) },
      },
      {
        what: "the first clients' time, warm, relative to Keyroot's",
        ...{ value: round(warmOf("firstClients") / warmOf("file")) },
      },
    ],
  });
} finally {
  rmSync(dir, { recursive: true });
}

/** Packs the library as for publication. @returns the folder of the library's modules */
function pack(): string {
  const script = fileURLToPath(new URL("../scripts/package/packPackages.ts", import.meta.url));
  execFileSync(process.execPath, [script, "keyroot", "--out", dir]);
  return join(dir, "keyroot", "dist");
}

function inNewProcess(temperature: "cold" | "warm", way: Way, library: string, folder = ""): number {
  const script = fileURLToPath(new URL("verify/inNode.ts", import.meta.url));
  const env = { ...process.env, BENCH_TOTAL_MS: String(TOTAL_MS) };
  return Number(execFileSync(process.execPath, [script, temperature, way, library, folder], { encoding: "utf8", env }));
}
