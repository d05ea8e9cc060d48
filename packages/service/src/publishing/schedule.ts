import { setTimeout as sleep } from "node:timers/promises";
import { KeyrootError } from "keyroot/errors";

/** When the service publishes by itself. */
export interface Schedule {
  /** Seconds between two checks for publishable keys: more than 0, at most `MAX_TIMER_SECONDS`. */
  every: number;
  /** Minimum number of publishable keys that starts a publication. */
  atLeast: number;
}

export interface ScheduledPublisher {
  countPublishable: () => Promise<number>;
  publish: () => Promise<unknown>;
  /** Called with the error of a failed round. The next round tries again. */
  onError: (error: unknown) => void;
}

/**
 * Publishes by a schedule until `signal` aborts. A round in progress is finished.
 * @returns after the last round has ended
 */
export async function publishBySchedule(
  { every, atLeast }: Schedule,
  { countPublishable, publish, onError }: ScheduledPublisher,
  signal: AbortSignal,
): Promise<void> {
  const isStopped = () => signal.aborted;
  while (!isStopped()) {
    await sleep(every * 1000, undefined, { signal }).catch(() => undefined);
    if (isStopped()) return;
    try {
      if ((await countPublishable()) >= atLeast) await publish();
    } catch (error) {
      // This error is normal with several replicas, because only one of them publishes at a time.
      if (!(error instanceof KeyrootError && error.code === "PUBLISHER_RUNNING")) onError(error);
    }
  }
}
