import { setTimeout as sleep } from "node:timers/promises";
import { KeyrootError } from "keyroot/errors";

/** The publishing schedule. */
export interface Schedule {
  /** Seconds between two checks: more than 0, at most `MAX_TIMER_SECONDS`. */
  every: number;
  /** Publish when at least this many keys may be published. */
  atLeast: number;
}

/** The functions that `publishBySchedule` calls. */
export interface ScheduledPublisher {
  countPublishable: () => Promise<number>;
  publish: () => Promise<unknown>;
  /** Called with the error of a failed round. The next round tries again. */
  onError: (error: unknown) => void;
}

/**
 * Publishes by a schedule until `signal` aborts. A round that is in progress then is finished.
 * @returns when the last round has ended
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
      // Expected with several replicas, because only one of them publishes.
      if (!(error instanceof KeyrootError && error.code === "PUBLISHER_RUNNING")) onError(error);
    }
  }
}
