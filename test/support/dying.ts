import type { MerkleFileStore } from "../../packages/operator/src/publisher/files/folderStore.ts";
import type { Journal } from "../../packages/operator/src/publisher/journal/folderJournal.ts";
import type { RpcCall } from "../../packages/keyroot/src/transport/jsonRpc.ts";

/**
 * A publisher's world that ends at one of its steps, as if the process had been killed there: from then on nothing that it
 * waits for ever comes. A step is a call of the chain, the store or the plan's folder, just before it and just after it.
 */
export class DyingWorld {
  readonly #diesAt: number;
  readonly #ended = Promise.withResolvers<"dead">();
  #steps = 0;

  /** @param diesAt the step that is the last, counted from 1; Infinity for one that does not die */
  constructor(diesAt = Infinity) {
    this.#diesAt = diesAt;
  }

  /** How many steps there were. */
  get steps(): number {
    return this.#steps;
  }

  /** Runs a publisher to its end, or its death. */
  async run<T>(work: Promise<T>): Promise<T | "dead"> {
    return Promise.race([work, this.#ended.promise]);
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
    await this.#live();
    const done = await work();
    await this.#live();
    return done;
  }

  async #live(): Promise<void> {
    if (++this.#steps < this.#diesAt) return;
    this.#ended.resolve("dead");
    await new Promise<never>(() => undefined);
  }
}
