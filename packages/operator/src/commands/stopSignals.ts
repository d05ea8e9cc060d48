import { exitCodeOfSignal } from "./exitCodes.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A signal that requests the end of a process. */
export type StopSignal = (typeof SIGNALS)[number];

/** A second signal within this time counts as the same one: npm repeats the terminal's SIGINT to the script that it runs. */
const REPEATED_WITHIN_MS = 2_000;

/**
 * Calls `stop` once after a stop signal: Ctrl-C, SIGTERM or a closed terminal. A second signal at least two seconds later
 * ends the process at once. Waiting for a signal does not keep the process alive.
 */
export function onStopSignal(stop: (signal: StopSignal) => void): Disposable {
  let stoppedAt: number | undefined;
  const listener = (signal: StopSignal) => {
    if (stoppedAt === undefined) {
      stoppedAt = performance.now();
      stop(signal);
    } else if (performance.now() - stoppedAt >= REPEATED_WITHIN_MS) {
      process.exit(exitCodeOfSignal(signal));
    }
  };
  for (const signal of SIGNALS) process.on(signal, listener);
  return {
    [Symbol.dispose]() {
      for (const signal of SIGNALS) process.off(signal, listener);
    },
  };
}

/** Resolves with the first stop signal (`onStopSignal`). The caller then cleans up. */
export function untilStopped(): Promise<StopSignal> {
  return new Promise((resolve) => {
    onStopSignal(resolve);
  });
}
