import type { Journal, MerkleFileStore } from "@keyroot/operator/publisher";
import type { RpcCall } from "keyroot/internal/transport";

/**
 * Simulates a publisher that is killed at one of its steps, after which none of its calls returns. A step is the moment
 * just before or just after a call of the chain, the store or the journal.
 */
export class SimulatedCrash {
  readonly #atStep: number;
  readonly #crashed = Promise.withResolvers<"crashed">();
  #steps = 0;

  /** @param atStep the number of the last step, from 1. Infinity for no crash */
  constructor(atStep = Infinity) {
    this.#atStep = atStep;
  }

  /** The number of steps so far. */
  get steps(): number {
    return this.#steps;
  }

  /** Runs a publisher until it ends or crashes. */
  async run<T>(work: Promise<T>): Promise<T | "crashed"> {
    return Promise.race([work, this.#crashed.promise]);
  }

  call(call: RpcCall): RpcCall {
    return (method, params) => this.#step(() => call(method, params));
  }

  store(store: MerkleFileStore): MerkleFileStore {
    return {
      put: (file) => this.#step(() => store.put(file)),
      get: (root) => this.#step(() => store.get(root)),
    };
  }

  journal(journal: Journal): Journal {
    return {
      readPlan: () => this.#step(() => journal.readPlan()),
      writePlan: (plan) => this.#step(() => journal.writePlan(plan)),
      recordAttempt: (attempt) => this.#step(() => journal.recordAttempt(attempt)),
      attempts: () => journal.attempts(),
      finish: () => this.#step(() => journal.finish()),
    };
  }

  async #step<T>(work: () => Promise<T>): Promise<T> {
    await this.#countStep();
    const result = await work();
    await this.#countStep();
    return result;
  }

  async #countStep(): Promise<void> {
    if (++this.#steps < this.#atStep) return;
    this.#crashed.resolve("crashed");
    await new Promise<never>(() => undefined);
  }
}
