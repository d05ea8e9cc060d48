import { Presets, SingleBar } from "cli-progress";
import { afterOutput } from "./output.ts";
import { exitCodeOfSignal } from "./exitCodes.ts";
import { onStopSignal, type StopSignal } from "./stopSignals.ts";

/** Minimum time of work, in ms, before the bar is shown. */
const SHOW_AFTER_MS = 1_000;

/**
 * A progress bar on standard error for work of more than a second; none if standard error is not a terminal. While the work
 * runs, Ctrl-C ends the process with `process.exit`: the terminal is restored and no file is left half written. If printed
 * lines still wait for their reader, a later second Ctrl-C ends the process without them.
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
  readonly #onInterrupt: () => void;
  readonly #listening: Disposable;
  #stage: string | undefined;
  #isInterrupted = false;

  /** @param onInterrupt called on Ctrl-C, after the bar is removed */
  constructor(onInterrupt: () => void = () => undefined) {
    this.#onInterrupt = onInterrupt;
    this.#listening = onStopSignal((signal) => {
      this.#interrupt(signal);
    });
  }

  /** Shows the progress of a stage. @param note further text for the bar */
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
    this.#listening[Symbol.dispose]();
    this.#bar.stop();
  }

  #interrupt(signal: StopSignal): void {
    this.#bar.stop();
    this.#isInterrupted = true;
    this.#onInterrupt();
    afterOutput(() => process.exit(exitCodeOfSignal(signal)));
  }
}
