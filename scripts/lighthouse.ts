/**
 * Rates the explorer with Lighthouse, offline and with its phone profile:
 *
 *     npm run lighthouse
 *
 * Prints the scores, writes them to bench/lighthouse.json, and fails below 95 in performance, accessibility or best
 * practices. Lighthouse is not among the project's dependencies, because it takes 176 MB: npx fetches this version once.
 */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { promisify } from "node:util";
import { CHROMIUM } from "../fixtures/browser/chromium.ts";
import { ExplorerWorld } from "../fixtures/browser/explorerWorld.ts";
import { sampleRecords } from "../fixtures/samples.ts";

const LIGHTHOUSE = "lighthouse@13.5.0";
const LIMIT = 95;
const USERS = 700;
const CATEGORIES = ["performance", "accessibility", "best-practices"] as const;

interface Report {
  categories: Record<string, { score: number }>;
  audits: Record<string, { score: number | null; title: string; displayValue?: string; numericValue?: number }>;
}

const [loadAtStart] = loadavg();
const world = new ExplorerWorld(sampleRecords(USERS));
await world.start();
try {
  const url = await world.serve();
  const pages = {
    start: url,
    verify: `${url}#/verify/${world.victim.userID}`,
    batch: `${url}#/batch/${world.root}`,
    bundle: `${url}#/bundle`,
    attack: `${url}#/attack/swapped-record`,
  };
  const results: Record<string, unknown> = {};
  for (const [name, address] of Object.entries(pages)) {
    const { categories, audits } = await rate(address);
    const scores = Object.fromEntries(CATEGORIES.map((key) => [key, Math.round((categories[key]?.score ?? 0) * 100)]));
    const failed = Object.entries(audits).filter(([, { score }]) => score !== null && score < 0.9);
    const layoutShift = audits["cumulative-layout-shift"]?.numericValue;
    results[name] = { ...scores, layoutShift };
    process.stdout.write(`${name}: ${JSON.stringify({ ...scores, layoutShift })}\n`);
    for (const [id, { title, displayValue = "" }] of failed)
      process.stdout.write(`  ${id}: ${title} ${displayValue}\n`);
    if (Object.values(scores).some((score) => score < LIMIT)) process.exitCode = 1;
  }
  const figures = {
    machine: `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} cores, Chromium ${world.browser.version()}`,
    // Other work on the machine lowers the performance.
    loadAtStart,
    command: `npm run lighthouse (${LIGHTHOUSE}, phone profile)`,
    limit: LIMIT,
    pages: results,
  };
  writeFileSync(new URL("../bench/lighthouse.json", import.meta.url), `${JSON.stringify(figures, null, 2)}\n`);
} finally {
  await world.stop();
}

async function rate(address: string): Promise<Report> {
  const args = [
    ...["-y", LIGHTHOUSE, address, "--quiet", "--output=json", "--output-path=stdout"],
    ...[`--only-categories=${CATEGORIES.join(",")}`, "--chrome-flags=--headless=new --no-sandbox"],
  ];
  const env = { ...process.env, CHROME_PATH: CHROMIUM };
  const { stdout } = await promisify(execFile)("npx", args, { env, maxBuffer: 2 ** 26 });
  return JSON.parse(stdout) as Report;
}
