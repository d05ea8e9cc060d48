import progress, { type Options, Presets, SingleBar } from "cli-progress";
import { afterOutput } from "./output.ts";
import { exitCodeOfSignal } from "./exitCodes.ts";
import { onStopSignal, type StopSignal } from "./stopSignals.ts";

/** Minimum time of work, in ms, before the bar is shown. */
const SHOW_AFTER_MS = 1_000;

/** Interval in ms at which lines repeat the progress of a stage. */
const LINE_EVERY_MS = 60_000;

/** The remaining time. It is unknown until some work is done, which cli-progress writes as "INF" or "NULL". */
const formatTime = (seconds: number, options: Options, roundTo: number) =>
  /^\d/.test(String(seconds)) ? progress.Format.TimeFormat(seconds, options, roundTo) : "unknown time";

interface ProgressOptions {
  /** Called on Ctrl-C, after the bar is removed. */
  onInterrupt?: () => void;
  /** Prints a line for each stage, and one per minute, where standard error is not a terminal. Default: no lines. */
  printLine?: (line: string) => void;
  /** Default: a minute. */
  lineEveryMs?: number;
}

/**
 * A progress bar on standard error for work of more than a second. If standard error is not a terminal, it prints lines on
 * request. While the work runs, Ctrl-C ends the process with `process.exit`: the terminal is restored and no file is left
 * half written. If printed lines still wait for their reader, a later second Ctrl-C ends the process without them.
 */
export class Progress {
  readonly #start = performance.now();
  readonly #bar = new SingleBar(
    {
      format: "{stage} {bar} {percentage}% | {value}/{total} {unit} |{note} {eta_formatted} left",
      clearOnComplete: true,
      hideCursor: true,
      stream: process.stderr,
      formatTime,
    },
    Presets.shades_classic,
  );
  readonly #onInterrupt: () => void;
  readonly #listening: Disposable;
  readonly #printLine: (line: string) => void;
  readonly #timer: NodeJS.Timeout;
  #lineStage: string | undefined;
  #barStage: string | undefined;
  #line = "";
  #isInterrupted = false;

  constructor({ onInterrupt, printLine, lineEveryMs = LINE_EVERY_MS }: ProgressOptions = {}) {
    this.#onInterrupt = onInterrupt ?? (() => undefined);
    this.#printLine = process.stderr.isTTY || printLine === undefined ? () => undefined : printLine;
    // Prints even if nothing changes, so that a waiting process does not look stopped.
    this.#timer = setInterval(() => {
      if (this.#line !== "") this.#printLine(this.#line);
    }, lineEveryMs).unref();
    this.#listening = onStopSignal((signal) => {
      this.#interrupt(signal);
    });
  }

  /** Shows the progress of a stage. @param note further text for the bar */
  update(stage: string, done: number, total: number, unit = "users", note = ""): void {
    if (this.#isInterrupted) return;
    this.#line = `${stage}: ${done} of ${total} ${unit}${note && `, ${note}`}`;
    if (stage !== this.#lineStage) this.#printLine(this.#line);
    this.#lineStage = stage;
    if (performance.now() - this.#start < SHOW_AFTER_MS) return;
    if (stage !== this.#barStage) {
      this.#bar.stop();
      this.#bar.start(total, done, { stage, unit, note: "" });
      this.#barStage = stage;
    }
    this.#bar.update(done, { note: note && ` ${note} |` });
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
    clearInterval(this.#timer);
    this.#bar.stop();
  }

  #interrupt(signal: StopSignal): void {
    this.#bar.stop();
    this.#isInterrupted = true;
    this.#onInterrupt();
    afterOutput(() => process.exit(exitCodeOfSignal(signal)));
  }
}
