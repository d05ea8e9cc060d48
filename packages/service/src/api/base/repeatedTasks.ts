import type { FastifyBaseLogger } from "fastify";
import type { ServiceContext } from "../../serve/context.ts";
import type { ResolvedConfig, Schedule } from "../../config/config.ts";
import type { KeyPublisher } from "../../publisher/keyPublisher.ts";
import { isPublisherRunning } from "../../publishing/lease.ts";

const MINUTE_MS = 60 * 1000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Work that the service repeats while it runs. */
export interface RepeatedTask {
  /** The name of the task in the log. */
  name: string;
  intervalMs: number;
  /** @param signal aborts when the service stops */
  run: (signal: AbortSignal) => Promise<void>;
}

/** Returns the tasks that delete old data. */
export function dropTasks(
  {
    refreshTokens,
    rateLimits,
    challenges,
    sessions,
    auditLog,
    webhookEndpoints,
    webhookDeliveries,
    now,
  }: ServiceContext,
  { eventDays, auditDays }: Pick<ResolvedConfig, "eventDays" | "auditDays">,
): RepeatedTask[] {
  const tasks: [name: string, intervalMs: number, run: RepeatedTask["run"]][] = [
    ["deleting sealed tokens", HOUR_MS, () => refreshTokens.dropSealed(now())],
    ["deleting expired challenges", HOUR_MS, () => challenges.dropExpired(now())],
    ["deleting counts of requests", MINUTE_MS, () => rateLimits.dropExpired()],
    ["deleting expired sessions", 10 * MINUTE_MS, () => sessions.dropExpired(now())],
    ["deleting old events", HOUR_MS, () => webhookDeliveries.dropEvents(now() - eventDays * DAY_MS)],
    ["deleting ended webhook secrets", HOUR_MS, () => webhookEndpoints.dropEnded(now())],
  ];
  if (auditDays > 0) {
    const drop = (signal: AbortSignal) => auditLog.drop(now() - auditDays * DAY_MS, signal);
    tasks.push(["deleting old entries of the audit log", 10 * MINUTE_MS, drop]);
  }
  return tasks.map(([name, intervalMs, run]) => ({ name, intervalMs, run }));
}

/**
 * Returns the tasks that compare published roots and publish keys. They run in turn.
 * @param schedule undefined if the service does not publish on a schedule
 */
export function publisherTasks(
  publisher: KeyPublisher,
  schedule: Schedule | undefined,
  logger: FastifyBaseLogger,
): RepeatedTask[] {
  const scheduled = schedule === undefined ? [] : [publishTask(publisher, schedule, logger)];
  return inTurn([recheckTask(publisher, logger), ...scheduled]);
}

/** Returns the task that publishes the publishable keys if at least `atLeast` keys are publishable. */
function publishTask(
  publisher: KeyPublisher,
  { every: seconds, atLeast }: Schedule,
  logger: FastifyBaseLogger,
): RepeatedTask {
  const run = async () => {
    if ((await publisher.countPublishable()) < atLeast) return;
    for (const batch of await publisher.publish()) logger.info(batch, "published");
  };
  return { name: "publishing", intervalMs: seconds * 1000, run };
}

/** The task that compares the published roots that are due, unless a replica is publishing. */
function recheckTask(publisher: KeyPublisher, logger: FastifyBaseLogger): RepeatedTask {
  const run = async () => {
    for (const difference of (await publisher.recheck()).differences)
      logger.error(difference, "a published root differs from the chain or its file");
  };
  return { name: "comparing published roots", intervalMs: HOUR_MS, run };
}

/**
 * Makes tasks wait for each other. Publishing and comparing need the same lease. If timers with equal intervals started
 * both tasks at the same time, the second task would fail in every round.
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

/** Repeats a task at the task's interval. @returns a function that stops the task after the statement in progress */
export function every({ name, intervalMs, run }: RepeatedTask, logger: FastifyBaseLogger): () => Promise<void> {
  const stopping = new AbortController();
  let round: Promise<void> | undefined;
  const timer = setInterval(() => {
    round ??= run(stopping.signal)
      .catch((err: unknown) => {
        if (!isPublisherRunning(err)) logger.error({ err }, `${name} failed`);
      })
      .finally(() => (round = undefined));
  }, intervalMs);
  return async () => {
    clearInterval(timer);
    stopping.abort();
    await round;
  };
}
