import type { Author } from "../auditLog/recordChange.ts";
import type { PublishedBatch } from "./keyPublisher.ts";

/** A call of the publisher that a person started. Times are in milliseconds since 1970. */
export interface PublishRun {
  started: number;
  /** Null while it runs. */
  ended: number | null;
  /** Published batches; empty while it runs. */
  batches: readonly PublishedBatch[];
  /** Undefined if it did not fail. */
  error: unknown;
}

/** Publishes in the background, so that no request stays open until transactions are confirmed. */
export class PublishRuns {
  readonly #publish: (author: Author) => Promise<PublishedBatch[]>;
  readonly #now: () => number;
  #last: PublishRun | undefined;
  #running: Promise<void> | undefined;

  constructor(publish: (author: Author) => Promise<PublishedBatch[]>, now: () => number) {
    this.#publish = publish;
    this.#now = now;
  }

  /** The last run of this process; undefined before the first one. */
  get last(): PublishRun | undefined {
    return this.#last;
  }

  /** Starts a run, unless one of this process is running. A failed run also ends, and keeps its error. */
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

  /** Resolves when no run of this process is running. */
  async ended(): Promise<void> {
    await this.#running;
  }
}
