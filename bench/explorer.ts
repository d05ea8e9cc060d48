/**
 * Measures in Chromium how long the explorer takes from the last byte of a file until it shows the result: the verified
 * path of one of 700 users, or the view of a batch of 10,000 users. It also measures the longest task of the main
 * thread. Every run has a new browser context, so nothing is cached or compiled.
 */
import { makeMerkleFile } from "keyroot/internal/merkle";
import { FolderStore } from "@keyroot/operator/publisher";
import { ExplorerWorld } from "../test/support/browser/explorerWorld.ts";
import { sampleRecords } from "../test/support/samples.ts";
import { median, report, round, SMALL } from "./runner/report.ts";

/** The limits in ms, for an idle machine. */
const LIMITS = { pathDrawn: 100, batchDrawn: 500, longestTask: 50 };
const USERS = SMALL ? 13 : 700;
const BATCH_USERS = SMALL ? 20 : 10_000;
const RUNS = SMALL ? 1 : 15;

interface Run {
  /** The time in ms from the file's last byte to the first frame that shows its content. */
  drawn: number;
  /** The longest task of the page's main thread, from the navigation on, in ms. */
  longestTask: number;
  /** The longest CPU time of a task in ms. Unlike elapsed time, it does not include other programs' work. */
  longestTaskCpu: number;
}

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** The elapsed time and the CPU time of the task, in µs. */
  dur?: number;
  tdur?: number;
  args: { name?: string; data?: { isOutermostMainFrame?: boolean } };
}

const world = new ExplorerWorld(sampleRecords(USERS));
await world.start();
try {
  const url = await world.serve();
  const batch = makeMerkleFile(sampleRecords(BATCH_USERS, 3));
  await new FolderStore(world.stack.filesDir).put(batch);
  const userID = world.victim.userID;
  const views = {
    path: { address: `${url}#/verify/${userID}`, measure: "keyroot: drawn" },
    batch: { address: `${url}#/batch/${batch.tree.root}`, measure: "keyroot: batch drawn" },
  };
  const path = await runs(views.path.address, views.path.measure);
  const whole = await runs(views.batch.address, views.batch.measure);
  const rows = [...summary("path", USERS, path), ...summary("batch", BATCH_USERS, whole)];
  const valueOf = (view: string, of: keyof Run) =>
    rows.find((row) => row.view === view && row.of === of)?.median ?? NaN;
  report({
    figures: {
      views: {
        what: `ms in Chromium ${world.browser.version()}, ${RUNS} runs: from the file's last byte until it is drawn, and the main thread's longest task, by the clock and in processor time`,
        rows,
      },
    },
    ratios: [
      {
        what: `ms until the path of one of ${USERS} users is drawn`,
        ...{ value: valueOf("path", "drawn"), atMost: LIMITS.pathDrawn },
      },
      {
        what: `ms until a batch of ${BATCH_USERS} users is drawn`,
        ...{ value: valueOf("batch", "drawn"), atMost: LIMITS.batchDrawn },
      },
      ...["path", "batch"].map((view) => ({
        what: `ms of the longest task of the main thread, ${view}`,
        ...{ value: valueOf(view, "longestTask"), atMost: LIMITS.longestTask },
      })),
    ],
  });
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
    // Use `evaluate`, because `waitForFunction` would run a large script in the page.
    const drawn = await page.evaluate(
      (name) =>
        new Promise<number>((resolve) => {
          new PerformanceObserver((list) => {
            for (const { duration } of list.getEntriesByName(name)) resolve(duration);
          }).observe({ type: "measure", buffered: true });
        }),
      measure,
    );
    const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
    return { drawn, ...longestTask(trace.traceEvents) };
  } finally {
    await context.close();
  }
}

/** Returns the longest task of a renderer's main thread. Only the measured page has long tasks. */
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

function summary(view: string, users: number, runs: readonly Run[]) {
  return (["drawn", "longestTask", "longestTaskCpu"] as const).map((of) => {
    const values = runs.map((run) => run[of]);
    return { view, users, of, median: round(median(values)), max: round(Math.max(...values)) };
  });
}
