import progress, { type Options, Presets, SingleBar } from "cli-progress";
import { exitOnStopSignal } from "./stopSignals.ts";

/** The time in ms after which the bar is shown. */
const SHOW_AFTER_MS = 1_000;

/** The interval in ms at which the progress of a stage is printed as a line. */
const LINE_EVERY_MS = 60_000;

/** Formats the remaining time. cli-progress passes "INF" or "NULL" until some work is done. */
const formatTime = (seconds: number, options: Options, roundTo: number) =>
  /^\d/.test(String(seconds)) ? progress.Format.TimeFormat(seconds, options, roundTo) : "unknown time";

interface ProgressOptions {
  /** Called on Ctrl-C, after the bar is removed. */
  onInterrupt?: () => void;
  /**
   * Receives a line of progress at the start of each stage and once per minute, if standard error is not a terminal.
   * Default: no lines are printed.
   */
  printLine?: (line: string) => void;
  /** The interval between lines in ms. Default: one minute. */
  lineEveryMs?: number;
}

/**
 * A progress bar on standard error, for work that takes more than a second. If standard error is not a terminal,
 * `printLine` receives lines of text instead. Ctrl-C removes the bar and ends the process (`exitOnStopSignal`).
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
  readonly #listening: Disposable;
  readonly #printLine: (line: string) => void;
  readonly #timer: NodeJS.Timeout;
  #lineStage: string | undefined;
  #barStage: string | undefined;
  #line = "";
  #isInterrupted = false;

  constructor({ onInterrupt, printLine, lineEveryMs = LINE_EVERY_MS }: ProgressOptions = {}) {
    this.#printLine = process.stderr.isTTY || printLine === undefined ? () => undefined : printLine;
    // Print the line even if nothing has changed, to show that the process still runs.
    this.#timer = setInterval(() => {
      if (this.#line !== "") this.#printLine(this.#line);
    }, lineEveryMs).unref();
    this.#listening = exitOnStopSignal(() => {
      this.#bar.stop();
      this.#isInterrupted = true;
      onInterrupt?.();
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
}
