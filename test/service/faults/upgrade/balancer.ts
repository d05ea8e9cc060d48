import { setTimeout } from "node:timers/promises";
import type { Replica } from "./serviceVersion.ts";

/** Interval of requests to /readyz in ms. A stopping replica accepts requests for longer than this interval. */
const POLL_MS = 100;

/**
 * Chooses replicas in turns, like a load balancer. It chooses only those whose /readyz responds with 200, and never
 * repeats a request.
 */
export class Balancer {
  readonly #replicas = new Map<Replica, "ready" | "not ready">();
  readonly #ending = new AbortController();
  readonly #polling: Promise<void>;
  #turn = 0;

  constructor() {
    this.#polling = this.#poll();
  }

  async add(replica: Replica): Promise<void> {
    this.#replicas.set(replica, await stateOf(replica));
  }

  remove(replica: Replica): void {
    this.#replicas.delete(replica);
  }

  /** Waits until a replica gets no more requests, because its /readyz does not respond with 200. */
  async untilNotReady(replica: Replica): Promise<void> {
    while (this.#replicas.get(replica) === "ready") await setTimeout(POLL_MS);
  }

  /** The URL of the replica that gets the next request: `http://<address>:<port>`. */
  next(): string {
    const ready = [...this.#replicas].flatMap(([{ url }, state]) => (state === "ready" ? url : []));
    const url = ready[this.#turn++ % ready.length];
    if (url === undefined) throw new Error("No replica is ready.");
    return url;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#polling;
  }

  async #poll(): Promise<void> {
    try {
      for (;;) {
        await setTimeout(POLL_MS, undefined, { signal: this.#ending.signal });
        // Polls run at the same time, so that a slow replica does not delay other polls.
        const poll = async (replica: Replica) => {
          const state = await stateOf(replica);
          if (this.#replicas.has(replica)) this.#replicas.set(replica, state);
        };
        await Promise.all([...this.#replicas.keys()].map(poll));
      }
    } catch (error) {
      if (!this.#ending.signal.aborted) throw error;
    }
  }
}

async function stateOf({ monitoringUrl }: Replica): Promise<"ready" | "not ready"> {
  const response = await fetch(`${monitoringUrl}/readyz`).catch(() => undefined);
  await response?.body?.cancel();
  return response?.status === 200 ? "ready" : "not ready";
}
