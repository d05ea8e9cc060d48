import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { FileSource } from "./fileSource.ts";
import type { WorkerAnswer, WorkerRequest } from "./fileWorker.ts";
import { type FileRequest, type FileResult, loadFile } from "./loadFile.ts";

/** How many files a thread has at a time: it audits one while the others are read. */
const FILES_PER_WORKER = 4;
/** The size of a thread's young heap in MB. The default is several times as much, for each thread. */
const YOUNG_HEAP_MB = 16;
/** `.ts` in the repository, `.js` in the built package. */
const SCRIPT = new URL(`fileWorker${extname(import.meta.url)}`, import.meta.url);

/** Threads that read and audit files: a file of 700 users takes a core about 10 ms. */
export class FileWorkers implements AsyncDisposable {
  readonly #source: FileSource;
  readonly #workers: Worker[];
  readonly #waiting = new Map<number, PromiseWithResolvers<FileResult>>();
  #requests = 0;

  /** @param count the number of threads; with 0, the caller's thread does the work */
  constructor(source: FileSource, count: number) {
    this.#source = source;
    this.#workers = Array.from({ length: count }, () => {
      const worker = new Worker(SCRIPT, {
        workerData: source,
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_HEAP_MB },
      });
      worker.on("message", (answer: WorkerAnswer) => {
        this.#resolve(answer);
      });
      // A thread that ends loses its requests. It is not known which ones those were.
      worker.on("error", (error) => {
        for (const { reject } of this.#waiting.values()) reject(error);
      });
      return worker;
    });
  }

  /** How many files to request at a time. */
  get capacity(): number {
    return Math.max(this.#workers.length, 1) * FILES_PER_WORKER;
  }

  /** Reads and audits a file in one of the threads. */
  load(request: FileRequest): Promise<FileResult> {
    if (this.#workers.length === 0) return loadFile(request, this.#source);
    const id = this.#requests++;
    const waiting = Promise.withResolvers<FileResult>();
    this.#waiting.set(id, waiting);
    this.#workers[id % this.#workers.length]?.postMessage({ id, request } satisfies WorkerRequest);
    return waiting.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  #resolve(answer: WorkerAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ("result" in answer) waiting?.resolve(answer.result);
    else waiting?.reject(answer.error);
  }
}
