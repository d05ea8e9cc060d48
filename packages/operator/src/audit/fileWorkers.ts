import { extname } from "node:path";
import { WorkerPool } from "../shared/workerPool.ts";
import type { FileSource } from "./fileSource.ts";
import { type FileRequest, type FileResult, loadFile } from "./loadFile.ts";

/** Number of files that a thread has at a time: it audits one while the others are read. */
const FILES_PER_WORKER = 4;
/** `.ts` in the repository, `.js` in the built package. */
const SCRIPT = new URL(`fileWorker${extname(import.meta.url)}`, import.meta.url);

/** Threads that read and audit files: a file of 700 users takes a core about 10 ms. */
export class FileWorkers implements AsyncDisposable {
  readonly #source: FileSource;
  readonly #pool: WorkerPool<FileRequest, FileResult> | undefined;

  /** @param count the number of threads; with 0, the caller's thread does the work */
  constructor(source: FileSource, count: number) {
    this.#source = source;
    this.#pool = count === 0 ? undefined : new WorkerPool(SCRIPT, count, { workerData: source });
  }

  /** Number of files to request at a time. */
  get capacity(): number {
    return (this.#pool?.size ?? 1) * FILES_PER_WORKER;
  }

  /** Reads and audits a file in one of the threads. */
  load(request: FileRequest): Promise<FileResult> {
    return this.#pool?.request(request) ?? loadFile(request, this.#source);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool?.[Symbol.asyncDispose]();
  }
}
