import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Resolves when the process is asked to stop, by Ctrl-C or by SIGTERM, with the signal's name. From then on the caller
 * cleans up; a second signal ends the process at once, with the exit code a shell gives to that signal. The wait by
 * itself does not keep a process alive: what it serves does.
 */
export function untilStopped(): Promise<(typeof SIGNALS)[number]> {
  return new Promise((resolve) => {
    let stopping = false;
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        if (stopping) process.exit(128 + constants.signals[signal]);
        stopping = true;
        resolve(signal);
      });
    }
  });
}
