import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { curve41417, type KeyType, type KeyTypeName } from "keyroot/internal/identity";
import type { FileSource } from "../follow/index.ts";
import { type FileRequest, type FileResult, loadFile } from "./loadFile.ts";

/** The number of files that each thread handles at the same time: it audits one file while it reads the others. */
const FILES_PER_WORKER = 4;
/** The size of each thread's heap for short-lived objects, in MB. Node's default is several times as large. */
const YOUNG_HEAP_MB = 16;
/** The script's file name ends in `.ts` in the repository and in `.js` in the package. */
const SCRIPT = new URL(`fileWorker${extname(import.meta.url)}`, import.meta.url);

/** The data of a thread. */
export interface FileWorkerData {
  source: FileSource;
  keyType: KeyTypeName;
}

/** A request to a thread. The answer has the same id. */
export interface FileTask {
  id: number;
  request: FileRequest;
}

/** The answer of a thread: the result, or the error if the thread failed. */
export type FileAnswer = { id: number } & ({ result: FileResult } | { error: unknown });

/** Threads that read and audit files. Auditing a file of 700 users takes about 10 ms of processor time. */
export class FileWorkers implements AsyncDisposable {
  readonly #source: FileSource;
  readonly #keyType: KeyType;
  readonly #workers: Worker[];
  readonly #waiting = new Map<number, PromiseWithResolvers<FileResult>>();
  #requests = 0;
  #failure: { error: unknown } | undefined;

  /**
   * @param count the number of threads. With 0, the work is done in the calling thread
   * @param keyType the type of the registry's keys
   */
  constructor(source: FileSource, count: number, keyType: KeyType = curve41417) {
    this.#source = source;
    this.#keyType = keyType;
    this.#workers = Array.from({ length: count }, () => this.#startWorker());
  }

  /** The number of files to request at the same time. */
  get capacity(): number {
    return Math.max(this.#workers.length, 1) * FILES_PER_WORKER;
  }

  /** Reads and audits a file. @throws the error of a thread that failed */
  async load(request: FileRequest): Promise<FileResult> {
    if (this.#workers.length === 0) return loadFile(request, this.#source, this.#keyType);
    if (this.#failure !== undefined) throw this.#failure.error;
    const id = this.#requests++;
    const waiting = Promise.withResolvers<FileResult>();
    this.#waiting.set(id, waiting);
    this.#workers[id % this.#workers.length]?.postMessage({ id, request } satisfies FileTask);
    return waiting.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  #startWorker(): Worker {
    const workerData: FileWorkerData = { source: this.#source, keyType: this.#keyType.name };
    const worker = new Worker(SCRIPT, { workerData, resourceLimits: { maxYoungGenerationSizeMb: YOUNG_HEAP_MB } });
    worker.on("message", ({ id, ...answer }: FileAnswer) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if ("result" in answer) waiting?.resolve(answer.result);
      else waiting?.reject(answer.error);
    });
    // A failed thread loses its requests, and lost requests never end. Therefore, end all requests with an error.
    worker.on("error", (error) => {
      this.#failure ??= { error };
      for (const { reject } of this.#waiting.values()) reject(error);
    });
    return worker;
  }
}
