import { Worker } from "node:worker_threads";
import { checkFile, type FileAnswer, type FileQuestion } from "./checkFile.ts";
import type { FileSource } from "./fileSource.ts";
import type { NumberedAnswer, NumberedQuestion } from "./fileWorker.ts";

/** What of a thread's garbage may gather: by default several times as much, for each thread. */
const YOUNG_HEAP_MB = 16;

/** Threads that read and judge files: judging a file of 700 users takes a core some 10 ms. */
export class FileWorkers implements AsyncDisposable {
  readonly #source: FileSource;
  readonly #workers: Worker[];
  readonly #waiting = new Map<number, PromiseWithResolvers<FileAnswer>>();
  #asked = 0;

  /** @param count how many threads; with 0 of them the caller's does it all */
  constructor(source: FileSource, count: number) {
    this.#source = source;
    this.#workers = Array.from({ length: count }, () => {
      const worker = new Worker(new URL("fileWorker.ts", import.meta.url), {
        workerData: source,
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_HEAP_MB },
      });
      worker.on("message", (answer: NumberedAnswer) => {
        this.#settle(answer);
      });
      // A thread that ends has lost whatever it was asked; there is no other error.
      worker.on("error", (error) => {
        for (const { reject } of this.#waiting.values()) reject(error);
      });
      return worker;
    });
  }

  /** Asks one of the threads. */
  check(question: FileQuestion): Promise<FileAnswer> {
    if (this.#workers.length === 0) return checkFile(question, this.#source);
    const number = this.#asked++;
    const waiting = Promise.withResolvers<FileAnswer>();
    this.#waiting.set(number, waiting);
    this.#workers[number % this.#workers.length]?.postMessage({ number, question } satisfies NumberedQuestion);
    return waiting.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  #settle(answer: NumberedAnswer): void {
    const waiting = this.#waiting.get(answer.number);
    this.#waiting.delete(answer.number);
    if ("answer" in answer) waiting?.resolve(answer.answer);
    else waiting?.reject(answer.error);
  }
}
