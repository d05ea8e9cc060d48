/**
 * Rates the explorer and the dashboard with Lighthouse, offline and with its phone profile:
 *
 *     npm run lighthouse [pages, such as "explorer batch,dashboard users"]
 *
 * The script prints the scores, the layout shift and the bytes on the wire. If it runs on all pages, it also writes
 * them to bench/lighthouse.json. It fails if a score for performance, accessibility or best practices is below 96, if
 * the layout shifts by more than 0.01, or if the explorer's start page takes more than 90 kB. Lighthouse takes 176 MB,
 * so it is not one of the project's dependencies. npx downloads this version once.
 */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { promisify } from "node:util";
import { CHROMIUM } from "../test/support/browser/chromium.ts";
import { startSampleDashboard } from "../test/support/browser/sampleDashboard.ts";
import { ExplorerWorld } from "../test/support/browser/explorerWorld.ts";
import { sampleRecords } from "../test/support/samples.ts";

const LIGHTHOUSE = "lighthouse@13.5.0";
const LIMIT = 96;
const MOST_SHIFT = 0.01;
/** Maximum bytes on the wire for the first page of the explorer. */
const MOST_BYTES = { "explorer start": 90_000 } as Readonly<Record<string, number>>;
const USERS = 700;
const CATEGORIES = ["performance", "accessibility", "best-practices"] as const;

interface Report {
  categories: Record<string, { score: number }>;
  audits: Record<string, { score: number | null; title: string; displayValue?: string; numericValue?: number }>;
}

const [, , chosen] = process.argv;
const [loadAtStart] = loadavg();
const world = new ExplorerWorld(sampleRecords(USERS));
await world.start();
try {
  await using dashboard = await startSampleDashboard(world.browser);
  const url = await world.serve();
  const pages: Record<string, { address: string; cookie?: string }> = {
    "explorer start": { address: url },
    "explorer verify": { address: `${url}#/verify/${world.victim.userID}` },
    "explorer batch": { address: `${url}#/batch/${world.root}` },
    "explorer bundle": { address: `${url}#/bundle` },
    "explorer attacks": { address: `${url}#/attacks` },
    "dashboard signing in": { address: dashboard.url },
  };
  for (const page of ["overview", "company", "servers", "users", "publishing", "webhooks", "audit"])
    pages[`dashboard ${page}`] = { address: `${dashboard.url}#/${page}`, cookie: dashboard.cookie };
  const results: Record<string, unknown> = {};
  for (const [name, { address, cookie }] of Object.entries(pages)) {
    if (chosen !== undefined && !chosen.split(",").includes(name)) continue;
    const { categories, audits } = await rate(address, cookie);
    const scores = Object.fromEntries(CATEGORIES.map((key) => [key, Math.round((categories[key]?.score ?? 0) * 100)]));
    const failed = Object.entries(audits).filter(([, { score }]) => score !== null && score < 0.9);
    const layoutShift = audits["cumulative-layout-shift"]?.numericValue ?? NaN;
    const bytes = audits["total-byte-weight"]?.numericValue ?? NaN;
    results[name] = { ...scores, layoutShift, bytes };
    process.stdout.write(`${name}: ${JSON.stringify(results[name])}\n`);
    for (const [id, { title, displayValue = "" }] of failed)
      process.stdout.write(`  ${id}: ${title} ${displayValue}\n`);
    const isMet = Object.values(scores).every((score) => score >= LIMIT) && layoutShift <= MOST_SHIFT;
    if (!isMet || bytes > (MOST_BYTES[name] ?? Infinity)) process.exitCode = 1;
  }
  const figures = {
    machine: `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} cores, Chromium ${world.browser.version()}`,
    // Record the load, because other work on the machine lowers the score for performance.
    loadAtStart,
    command: `npm run lighthouse (${LIGHTHOUSE}, phone profile)`,
    limit: LIMIT,
    pages: results,
  };
  if (chosen === undefined)
    writeFileSync(new URL("../bench/lighthouse.json", import.meta.url), `${JSON.stringify(figures, null, 2)}\n`);
} finally {
  await world.stop();
}

async function rate(address: string, cookie?: string): Promise<Report> {
  const args = [
    ...["-y", LIGHTHOUSE, address, "--quiet", "--output=json", "--output-path=stdout"],
    ...[`--only-categories=${CATEGORIES.join(",")}`, "--chrome-flags=--headless=new --no-sandbox"],
    // The session is for a service that runs only during this script.
    ...(cookie === undefined ? [] : [`--extra-headers=${JSON.stringify({ Cookie: cookie })}`]),
  ];
  const env = { ...process.env, CHROME_PATH: CHROMIUM };
  const { stdout } = await promisify(execFile)("npx", args, { env, maxBuffer: 2 ** 26 });
  return JSON.parse(stdout) as Report;
}
