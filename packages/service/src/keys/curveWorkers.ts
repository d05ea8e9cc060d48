import { availableParallelism } from "node:os";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { ServiceError } from "@keyroot/client/internal";
import { ArgumentError } from "keyroot/internal/errors";
import type { ChallengeRequest, KeyTypeName, MadeChallenge, PossessionStatement } from "keyroot/internal/identity";
import type { CurveAnswer, CurveJob, CurveResult } from "./curveWorker.ts";
import { FairQueue } from "./fairQueue.ts";

/** Maximum number of threads. On a machine with several cores, one core is left for other requests. */
const THREADS = Math.max(1, Math.min(4, availableParallelism() - 1));
/** Maximum number of waiting jobs per partner. One thread needs about 0.5 s for 64 jobs. */
const MAX_WAITING = 64;
/** The file extension is `.ts` in the repository and `.js` in the built package. */
const SCRIPT = new URL(`curveWorker${extname(import.meta.url)}`, import.meta.url);

interface WaitingJob extends PromiseWithResolvers<CurveAnswer> {
  job: CurveJob;
}

/**
 * Runs curve arithmetic, which takes 2 to 7 ms per key, in separate threads. The threads start with the first jobs.
 * Partners take turns. A partner with too many waiting jobs cannot add more.
 */
export class CurveWorkers implements AsyncDisposable {
  readonly #waiting = new FairQueue<WaitingJob>(MAX_WAITING);
  readonly #workers = new Map<Worker, WaitingJob | undefined>();
  readonly #keyType: KeyTypeName;
  #isClosed = false;

  /** @param keyType the type of the registry's keys. Default: `curve41417` */
  constructor(keyType: KeyTypeName = "curve41417") {
    this.#keyType = keyType;
  }

  /**
   * Checks a public key and creates a challenge for it.
   * @param owner the partner to which the job belongs
   * @throws ArgumentError with the codes of `makeChallenge`; ServiceError RATE_LIMITED, UNAVAILABLE
   */
  run(owner: string, request: ChallengeRequest): Promise<MadeChallenge> {
    return this.#run(owner, { keyType: this.#keyType, request }) as Promise<MadeChallenge>;
  }

  /**
   * Whether a signature proves possession.
   * @param owner the partner that the job belongs to
   * @throws ServiceError RATE_LIMITED, UNAVAILABLE
   */
  verify(owner: string, statement: PossessionStatement, signature: Uint8Array): Promise<boolean> {
    return this.#run(owner, { keyType: this.#keyType, statement, signature }) as Promise<boolean>;
  }

  async #run(owner: string, job: CurveJob): Promise<CurveResult> {
    if (this.#isClosed) throw closed();
    const waiting = { job, ...Promise.withResolvers<CurveAnswer>() };
    if (!this.#waiting.add(owner, waiting)) {
      const message = "Too many keys of this partner are being registered at the same time. Wait 1 s.";
      throw new ServiceError(429, "RATE_LIMITED", message, { retryAfter: 1 });
    }
    this.#start();
    const answer = await waiting.promise;
    if ("result" in answer) return answer.result;
    throw new ArgumentError<string>(answer.refused.code, answer.refused.message);
  }

  /** Ends the threads. Unfinished jobs fail with UNAVAILABLE. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const threads = [...this.#workers.keys()];
    const jobs = [...this.#workers.values()];
    this.#workers.clear();
    while (!this.#waiting.isEmpty) jobs.push(this.#waiting.next());
    for (const job of jobs) job?.reject(closed());
    await Promise.all(threads.map((worker) => worker.terminate()));
  }

  /** Assigns the next job to an idle thread or a new thread. */
  #start(): void {
    const worker = this.#waiting.isEmpty ? undefined : this.#idleWorker();
    if (worker === undefined) return;
    const next = this.#waiting.next();
    this.#workers.set(worker, next);
    worker.postMessage(next?.job);
  }

  #idleWorker(): Worker | undefined {
    for (const [worker, job] of this.#workers) if (job === undefined) return worker;
    return this.#workers.size < THREADS ? this.#addWorker() : undefined;
  }

  #addWorker(): Worker {
    // Do not pass the process's Node options to the worker, because some Node options end a worker thread.
    const worker = new Worker(SCRIPT, { execArgv: [] });
    // Idle threads do not keep the process alive. During a job, the open request keeps the process alive.
    worker.unref();
    worker.on("message", (answer: CurveAnswer) => {
      if (!this.#workers.has(worker)) return;
      this.#workers.get(worker)?.resolve(answer);
      this.#workers.set(worker, undefined);
      this.#start();
    });
    const end = (error: unknown) => {
      this.#workers.get(worker)?.reject(error);
      if (this.#workers.delete(worker)) this.#start();
    };
    worker.on("error", end);
    worker.on("exit", () => {
      end(new Error("A thread for curve arithmetic ended."));
    });
    this.#workers.set(worker, undefined);
    return worker;
  }
}

function closed(): ServiceError {
  return new ServiceError(503, "UNAVAILABLE", "The service is stopping. Repeat the request.", { retryAfter: 1 });
}
