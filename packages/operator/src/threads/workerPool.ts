import { Worker, type WorkerOptions } from "node:worker_threads";
import type { PoolAnswer, PoolRequest } from "./serveRequests.ts";

/** The size of each thread's heap for short-lived objects, in MB. Node's default is several times as large. */
const YOUNG_HEAP_MB = 16;

/** A pool of threads that respond to requests. All threads run the same script, which calls `serveRequests`. */
export class WorkerPool<Request, Result> implements AsyncDisposable {
  readonly #workers: Worker[];
  readonly #waiting = new Map<number, PromiseWithResolvers<Result>>();
  #requests = 0;
  #failure: { error: unknown } | undefined;

  /**
   * @param script the module that the threads run
   * @param count the number of threads, 1 or more
   */
  constructor(script: URL, count: number, options: Pick<WorkerOptions, "workerData"> = {}) {
    this.#workers = Array.from({ length: count }, () => {
      const worker = new Worker(script, {
        ...options,
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_HEAP_MB },
      });
      worker.on("message", (answer: PoolAnswer<Result>) => {
        this.#resolve(answer);
      });
      // A failed thread loses its requests, and lost requests never end. Therefore, end all requests with an error.
      worker.on("error", (error) => {
        this.#failure ??= { error };
        for (const { reject } of this.#waiting.values()) reject(error);
      });
      return worker;
    });
  }

  get size(): number {
    return this.#workers.length;
  }

  /** Sends a request to one of the threads. @throws the thread's error */
  async request(request: Request): Promise<Result> {
    if (this.#failure !== undefined) throw this.#failure.error;
    const id = this.#requests++;
    const waiting = Promise.withResolvers<Result>();
    this.#waiting.set(id, waiting);
    this.#workers[id % this.#workers.length]?.postMessage({ id, request } satisfies PoolRequest<Request>);
    return waiting.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  #resolve(answer: PoolAnswer<Result>): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ("result" in answer) waiting?.resolve(answer.result);
    else waiting?.reject(answer.error);
  }
}
