import { Presets, SingleBar } from "cli-progress";
import { constants } from "node:os";
import { afterOutput } from "./command.ts";

/** Work that takes less shows nothing. */
const SHOW_AFTER_MS = 1_000;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * A progress bar on standard error, for work of more than a second; none where that is no terminal. As long as the work
 * goes on, Ctrl-C ends the process by `process.exit`: the terminal is as before, and nothing is left half-written. Where what
 * was printed waits for its reader, a second Ctrl-C ends the process without it.
 */
export class Progress {
  readonly #start = performance.now();
  readonly #bar = new SingleBar(
    {
      format: "{stage} {bar} {percentage}% | {value}/{total} {unit} |{note} {eta_formatted} left",
      clearOnComplete: true,
      hideCursor: true,
      stream: process.stderr,
    },
    Presets.shades_classic,
  );
  readonly #interrupt = (signal: (typeof SIGNALS)[number]) => {
    this.#bar.stop();
    this.#isInterrupted = true;
    this.#onInterrupt();
    const exitCode = 128 + constants.signals[signal];
    afterOutput(() => process.exit(exitCode));
  };
  #stage: string | undefined;
  #isInterrupted = false;

  readonly #onInterrupt: () => void;

  /** @param onInterrupt is called at Ctrl-C, once the bar is gone */
  constructor(onInterrupt: () => void = () => undefined) {
    this.#onInterrupt = onInterrupt;
    for (const signal of SIGNALS) process.once(signal, this.#interrupt);
  }

  /** Shows how far a stage of the work has come. @param note what else there is to say */
  update(stage: string, done: number, total: number, unit = "users", note = ""): void {
    if (this.#isInterrupted || performance.now() - this.#start < SHOW_AFTER_MS) return;
    if (stage !== this.#stage) {
      this.#bar.stop();
      this.#bar.start(total, done, { stage, unit, note: "" });
      this.#stage = stage;
    }
    this.#bar.update(done, { note: note && ` ${note} |` });
  }

  [Symbol.dispose](): void {
    for (const signal of SIGNALS) process.off(signal, this.#interrupt);
    this.#bar.stop();
  }
}
