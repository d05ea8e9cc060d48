import type { FastifyBaseLogger } from "fastify";

export interface RepeatedTask {
  /** The name of the task in the log. */
  name: string;
  intervalMs: number;
  /** @param signal aborts when the process stops */
  run: (signal: AbortSignal) => Promise<void>;
}

/**
 * Repeats a task at its interval.
 * @returns a function that stops the task after the statement in progress
 */
export function every(
  { name, intervalMs, run }: RepeatedTask,
  logger: Pick<FastifyBaseLogger, "error">,
): () => Promise<void> {
  const stopping = new AbortController();
  let round: Promise<void> | undefined;
  const timer = setInterval(() => {
    round ??= run(stopping.signal)
      .catch((err: unknown) => {
        logger.error({ err }, `${name} failed`);
      })
      .finally(() => (round = undefined));
  }, intervalMs);
  return async () => {
    clearInterval(timer);
    stopping.abort();
    await round;
  };
}
