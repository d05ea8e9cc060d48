import { Presets, SingleBar } from "cli-progress";

/** Work that takes less shows nothing. */
const SHOW_AFTER_MS = 1_000;

/** A progress bar on standard error, for work of more than a second; none where that is no terminal. */
export class Progress {
  readonly #start = performance.now();
  readonly #bar = new SingleBar(
    {
      format: "{stage} {bar} {percentage}% | {value}/{total} {unit} | {eta_formatted} left",
      clearOnComplete: true,
      hideCursor: true,
      stream: process.stderr,
    },
    Presets.shades_classic,
  );
  #stage: string | undefined;

  /** Shows how far a stage of the work has come. */
  update(stage: string, done: number, total: number, unit = "users"): void {
    if (performance.now() - this.#start < SHOW_AFTER_MS) return;
    if (stage !== this.#stage) {
      this.#bar.stop();
      this.#bar.start(total, done, { stage, unit });
      this.#stage = stage;
    }
    this.#bar.update(done);
  }

  [Symbol.dispose](): void {
    this.#bar.stop();
  }
}
