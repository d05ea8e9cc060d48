import { extname } from "node:path";
import { curve41417, type KeyType, type KeyTypeName } from "keyroot/internal/identity";
import { WorkerPool } from "../threads/workerPool.ts";
import type { FileSource } from "../follow/index.ts";
import { type FileRequest, type FileResult, loadFile } from "./loadFile.ts";

/** The number of files that each thread handles at the same time. It audits one of them while it reads the others. */
const FILES_PER_WORKER = 4;
/** The script's file name ends in `.ts` in the repository and in `.js` in the package. */
const SCRIPT = new URL(`fileWorker${extname(import.meta.url)}`, import.meta.url);

/** The data of a thread. */
export interface FileWorkerData {
  source: FileSource;
  keyType: KeyTypeName;
}

/** Threads that read and audit files. Auditing a file of 700 users takes about 10 ms of processor time. */
export class FileWorkers implements AsyncDisposable {
  readonly #source: FileSource;
  readonly #keyType: KeyType;
  readonly #pool: WorkerPool<FileRequest, FileResult> | undefined;

  /**
   * @param count the number of threads. With 0, the work is done in the calling thread
   * @param keyType the type of the registry's keys
   */
  constructor(source: FileSource, count: number, keyType: KeyType = curve41417) {
    this.#source = source;
    this.#keyType = keyType;
    const workerData: FileWorkerData = { source, keyType: keyType.name };
    this.#pool = count === 0 ? undefined : new WorkerPool(SCRIPT, count, { workerData });
  }

  /** The number of files to request at the same time. */
  get capacity(): number {
    return (this.#pool?.size ?? 1) * FILES_PER_WORKER;
  }

  load(request: FileRequest): Promise<FileResult> {
    return this.#pool?.request(request) ?? loadFile(request, this.#source, this.#keyType);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool?.[Symbol.asyncDispose]();
  }
}
