import type { FastifyBaseLogger } from "fastify";
import type { RepeatedTask } from "../api/base/repeatedTasks.ts";
import type { Schedule } from "../config/publisherConfig.ts";
import { isPublisherRunning } from "../publishing/lease.ts";
import type { KeyPublisher } from "./keyPublisher.ts";

const HOUR_MS = 60 * 60 * 1000;
/** Interval in ms at which a publisher looks for requests to publish now. */
const REQUESTS_MS = 1_000;
/** Interval in ms at which a publisher updates account files. */
const ACCOUNTS_MS = 30_000;
/** Interval in ms of reports about the chain and the stores. */
const REPORT_MS = 30_000;

/**
 * Returns the tasks of a publisher: publish on request, compare published roots, update account files, publish on
 * schedule, and report. All tasks except reporting need the lease, so they run one after the other.
 * @param schedule undefined if the publisher publishes only on request
 */
export function publisherTasks(
  publisher: KeyPublisher,
  schedule: Schedule | undefined,
  logger: FastifyBaseLogger,
): RepeatedTask[] {
  const compare = async () => {
    for (const difference of (await publisher.recheck()).differences)
      logger.error(difference, "a published root differs from the chain or its file");
  };
  const settle = async () => {
    await publisher.settleChanges();
  };
  const publish = async () => {
    if ((await publisher.countPublishable()) < (schedule?.atLeast ?? Infinity)) return;
    for (const batch of await publisher.publish()) logger.info(batch, "published");
  };
  const leased: RepeatedTask[] = [
    { name: "publishing on request", intervalMs: REQUESTS_MS, run: () => publisher.publishRequested() },
    { name: "comparing published roots", intervalMs: HOUR_MS, run: compare },
    { name: "updating account files", intervalMs: ACCOUNTS_MS, run: settle },
  ];
  if (schedule !== undefined) leased.push({ name: "publishing", intervalMs: schedule.every * 1000, run: publish });
  const reporting = { name: "reporting", intervalMs: REPORT_MS, run: reporter(publisher, logger) };
  return [...inTurn(leased.map(unlessRunning)), reporting];
}

/** With several publishers, it is normal that another one holds the lease. */
function unlessRunning(task: RepeatedTask): RepeatedTask {
  const run = async (signal: AbortSignal) => {
    await task.run(signal).catch((error: unknown) => {
      if (!isPublisherRunning(error)) throw error;
    });
  };
  return { ...task, run };
}

/** Returns a function that reports, and logs each failing part when its error code changes. */
export function reporter(publisher: Pick<KeyPublisher, "report">, logger: Pick<FastifyBaseLogger, "warn">) {
  let known = new Map<string, unknown>();
  return async (): Promise<void> => {
    const failing = await publisher.report();
    const codes = new Map(failing.map(({ part, error }) => [part, (error as { code?: unknown }).code]));
    for (const { part, error: err } of failing)
      if (known.get(part) !== codes.get(part)) logger.warn({ err }, `${part} fails`);
    known = codes;
  };
}

/**
 * Makes tasks wait for each other. Publishing and comparing need the same lease. If both started at the same time, one
 * of them would fail in every round.
 */
export function inTurn(tasks: readonly RepeatedTask[]): RepeatedTask[] {
  let previous: Promise<void> = Promise.resolve();
  return tasks.map(({ run, ...task }) => ({
    ...task,
    run: (signal) => {
      const round = previous.then(() => (signal.aborted ? undefined : run(signal)));
      previous = round.catch(() => undefined);
      return round;
    },
  }));
}
