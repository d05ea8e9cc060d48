import type { Author } from "../auditLog/recordChange.ts";
import type { PublishedBatch } from "../publisher/keyPublisher.ts";

/** A run of the publisher that a person started. Times are in milliseconds since 1970. */
export interface PublishRun {
  started: number;
  /** End of the run. Null while the run is in progress. */
  ended: number | null;
  /** Published batches. Empty while the run is in progress. */
  batches: readonly PublishedBatch[];
  /** The error of a failed run. Undefined for other runs. */
  error: unknown;
}

/** Publishes in the background, so that no request waits until transactions are confirmed. */
export class PublishRuns {
  readonly #publish: (author: Author) => Promise<PublishedBatch[]>;
  readonly #now: () => number;
  #last: PublishRun | undefined;
  #running: Promise<void> | undefined;

  constructor(publish: (author: Author) => Promise<PublishedBatch[]>, now: () => number) {
    this.#publish = publish;
    this.#now = now;
  }

  /** The last run that this process started. Undefined before the first run. */
  get last(): PublishRun | undefined {
    return this.#last;
  }

  /** Starts a run and returns the run. If a run is in progress, returns the current run. */
  start(author: Author, onFailure: (error: unknown) => void): PublishRun {
    if (this.#running !== undefined && this.#last !== undefined) return this.#last;
    const started = this.#now();
    const run: PublishRun = { started, ended: null, batches: [], error: undefined };
    this.#last = run;
    this.#running = this.#publish(author)
      .then(
        (batches) => {
          this.#last = { ...run, ended: this.#now(), batches };
        },
        (error: unknown) => {
          this.#last = { ...run, ended: this.#now(), error };
          onFailure(error);
        },
      )
      .finally(() => {
        this.#running = undefined;
      });
    return run;
  }

  /** Resolves when this process has no run in progress. */
  async ended(): Promise<void> {
    await this.#running;
  }
}
