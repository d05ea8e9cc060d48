import { cpus, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** The load of other programs on the machine, before and after a benchmark. */
export interface Load {
  /** The load average of the last minute before the run. An earlier benchmark raises this average. */
  average: number;
  /**
   * The share of all cores that other programs used in the second before the run, from 0 to 1. `after` is their share
   * in the second after the run.
   */
  before: number;
  after: number;
  /** True if the share before or after the run was above the limit. The results are then not recorded. */
  busy: boolean;
}

/** The maximum share of all cores that other programs may use. */
export const BUSY_LIMIT = 0.1;
/** The duration in ms of each measurement of the used share. */
export const SAMPLE_MS = 1000;

/** Describes the machine by the processor, the number of cores and the version of Node. */
export function machine(): string {
  return `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} cores, Node ${process.version}`;
}

/** Runs the work, and measures the load for `sampleMs` before and after it. If `sampleMs` is 0, it measures no load. */
export async function withLoad<T>(work: () => Promise<T>, sampleMs: number): Promise<{ result: T; load: Load }> {
  const [average = NaN] = loadavg();
  const before = await usedShare(sampleMs);
  const result = await work();
  const after = await usedShare(sampleMs);
  const rounded = { average: round(average), before: round(before), after: round(after) };
  return { result, load: { ...rounded, busy: Math.max(before, after) > BUSY_LIMIT } };
}

/** Returns the share of all cores that is in use while this process waits. */
async function usedShare(sampleMs: number): Promise<number> {
  if (sampleMs === 0) return 0;
  const start = processorTimes();
  await sleep(sampleMs);
  const end = processorTimes();
  return 1 - (end.idle - start.idle) / (end.total - start.total);
}

function processorTimes(): { idle: number; total: number } {
  const all = cpus().map(({ times }) => times);
  const total = all.reduce((sum, { user, nice, sys, irq, idle }) => sum + user + nice + sys + irq + idle, 0);
  return { idle: all.reduce((sum, { idle }) => sum + idle, 0), total };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
