/**
 * Measures the explorer in Chromium: how long a file of 700 users takes from the arrival of its last byte to the verified
 * path on the screen, the same for the view of a batch of 10,000 users, and the longest task of the main thread in both.
 * Every run has a new browser context, so that nothing is cached or compiled.
 *
 * `npm run bench:explorer [runs]` prints the figures, and writes them to bench/explorer.json.
 */
import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { makeMerkleFile } from "keyroot/merkle";
import { FolderStore } from "@keyroot/operator/publisher";
import { ExplorerWorld } from "../fixtures/browser/explorerWorld.ts";
import { sampleRecords } from "../fixtures/samples.ts";

/** The limits in ms, for a machine with nothing else to do. */
const LIMITS = { pathDrawn: 100, batchDrawn: 500, longestTask: 50 };
const USERS = 700;
const BATCH_USERS = 10_000;
const RUNS = Number(process.argv[2] ?? 15);

interface Run {
  /** From the file's last byte to the frame that shows it, in ms. */
  drawn: number;
  /** The longest task of the page's main thread, from the navigation on, in ms. */
  longestTask: number;
  /** The most CPU time of such a task, in ms. Other work on the machine does not add to it. */
  longestTaskCpu: number;
}

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** In µs: on the clock, and of the CPU. */
  dur?: number;
  tdur?: number;
  args: { name?: string; data?: { isOutermostMainFrame?: boolean } };
}

const [loadAtStart] = loadavg();
const world = new ExplorerWorld(sampleRecords(USERS));
await world.start();
try {
  const url = await world.serve();
  const batch = makeMerkleFile(sampleRecords(BATCH_USERS, 3));
  await new FolderStore(world.stack.merkleDir).put(batch);
  const userID = world.victim.userID;
  const views = {
    path: { address: `${url}#/verify/${userID}`, measure: "keyroot: drawn" },
    batch: { address: `${url}#/batch/${batch.tree.root}`, measure: "keyroot: batch drawn" },
  };
  const path = await runs(views.path.address, views.path.measure);
  const whole = await runs(views.batch.address, views.batch.measure);
  const figures = {
    machine: `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} cores, Chromium ${world.browser.version()}`,
    // Other work on the machine makes everything slower.
    loadAtStart,
    command: `npm run bench:explorer${process.argv[2] === undefined ? "" : ` ${RUNS}`}`,
    unit: "ms",
    limits: LIMITS,
    runs: RUNS,
    path: { users: USERS, ...summary(path) },
    batch: { users: BATCH_USERS, ...summary(whole) },
  };
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
  writeFileSync(new URL("explorer.json", import.meta.url), `${JSON.stringify(figures, null, 2)}\n`);
} finally {
  await world.stop();
}

async function runs(address: string, measure: string): Promise<Run[]> {
  const all: Run[] = [];
  for (let i = 0; i < RUNS; i++) all.push(await run(address, measure));
  return all;
}

async function run(address: string, measure: string): Promise<Run> {
  const { browser } = world;
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await browser.startTracing(page, { categories: ["devtools.timeline", "disabled-by-default-devtools.timeline"] });
    await page.goto(address);
    const drawn = await page.waitForFunction((name) => performance.getEntriesByName(name)[0]?.duration, measure);
    const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
    return { drawn: Number(await drawn.jsonValue()), ...longestTask(trace.traceEvents) };
  } finally {
    await context.close();
  }
}

/** The longest task of a renderer's main thread. Only the measured page has one that does anything. */
function longestTask(events: readonly TraceEvent[]): Pick<Run, "longestTask" | "longestTaskCpu"> {
  const mainThreads = new Set(
    events.flatMap(({ name, args, pid, tid }) =>
      name === "thread_name" && args.name === "CrRendererMain" ? [`${pid}:${tid}`] : [],
    ),
  );
  const tasks = events.filter(({ name, pid, tid }) => name === "RunTask" && mainThreads.has(`${pid}:${tid}`));
  return {
    longestTask: Math.max(...tasks.map(({ dur = 0 }) => dur / 1000)),
    longestTaskCpu: Math.max(...tasks.map(({ tdur = 0 }) => tdur / 1000)),
  };
}

function summary(runs: readonly Run[]) {
  const of = (key: keyof Run) => {
    const sorted = runs.map((run) => run[key]).sort((a, b) => a - b);
    return { median: round(sorted[sorted.length >> 1] ?? NaN), max: round(sorted.at(-1) ?? NaN) };
  };
  return { drawn: of("drawn"), longestTask: of("longestTask"), longestTaskCpu: of("longestTaskCpu") };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
