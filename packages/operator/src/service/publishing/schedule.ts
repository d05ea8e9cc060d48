import { setTimeout as sleep } from "node:timers/promises";
import { KeyrootError } from "keyroot/errors";

/** When to publish what users register. */
export interface Schedule {
  /** Seconds from one look to the next. */
  every: number;
  /** How many keys must wait before a batch is worth its transaction. */
  atLeast: number;
}

export interface Scheduled {
  /** How many keys wait. */
  waiting: () => Promise<number>;
  publish: () => Promise<unknown>;
  /** Is told why a round came to nothing; the next one tries again. */
  failed: (error: unknown) => void;
}

/**
 * Publishes by a schedule until `signal` ends it; a round under way is finished first.
 * @returns once it has ended
 */
export async function publishBySchedule(
  { every, atLeast }: Schedule,
  { waiting, publish, failed }: Scheduled,
  signal: AbortSignal,
): Promise<void> {
  const isOver = () => signal.aborted;
  while (!isOver()) {
    await sleep(every * 1000, undefined, { signal }).catch(() => undefined);
    if (isOver()) return;
    try {
      if ((await waiting()) >= atLeast) await publish();
    } catch (error) {
      // Another replica publishes: as it should be.
      if (!(error instanceof KeyrootError && error.code === "PUBLISHER_RUNNING")) failed(error);
    }
  }
}
