import { exitCodeOfSignal } from "./exitCodes.ts";
import { afterOutput } from "./output.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A signal that asks a process to end. */
export type StopSignal = (typeof SIGNALS)[number];

/**
 * The time in ms during which a second signal is ignored. One Ctrl-C can arrive twice, because npm also sends the
 * terminal's SIGINT to the script that it runs.
 */
const REPEATED_WITHIN_MS = 2_000;

/**
 * Calls `stop` at the first stop signal: Ctrl-C, SIGTERM or a closed terminal. Another signal ends the process at once
 * if it comes at least two seconds later. Waiting for signals does not keep the process running.
 */
function onStopSignal(stop: (signal: StopSignal) => void): Disposable {
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

/**
 * Ends the process at the first stop signal (`onStopSignal`), after all printed lines have been written. A second
 * signal ends the process without waiting for the lines.
 */
export function exitOnStopSignal(cleanUp: () => void): Disposable {
  return onStopSignal((signal) => {
    cleanUp();
    afterOutput(() => process.exit(exitCodeOfSignal(signal)));
  });
}

/** Resolves at the first stop signal (`onStopSignal`). The caller must then clean up. */
export function untilStopped(): Promise<StopSignal> {
  return new Promise((resolve) => {
    onStopSignal(resolve);
  });
}
