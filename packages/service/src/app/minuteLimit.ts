import { LRUCache } from "lru-cache";
import { type RequestCount, WINDOW_SECONDS } from "./requestCounts.ts";

/** Maximum number of counted names, about 200 bytes each. Above it, names without recent requests are dropped. */
const MAX_NAMES = 100_000;
/** A replica reports the requests of a name to the others in steps of this share of the limit. */
const STEPS = 10;

/** The state of a limit, after a request was counted. */
export interface Quota {
  limit: number;
  /** Number of requests still accepted. */
  remaining: number;
  /** Seconds until requests are accepted again, 1 to 60. */
  resetSeconds: number;
  /** Whether this request is over the limit. */
  exceeded: boolean;
}

/** Adds requests to the count that all replicas share. @returns the count; undefined if this name is not shared */
export type ShareCount = (name: string, requests: number) => Promise<RequestCount | undefined>;

interface Counter {
  /** Requests that this replica counted. */
  requests: number;
  /** The number of these requests that it has shared. */
  shared: number;
  /** Requests that other replicas have shared. */
  elsewhere: number;
  /** Whether a count is being shared. Two concurrent counts could arrive in the wrong order. */
  sharing: boolean;
  /** End of the counted minute, in ms of `performance.now()`. */
  ends: number;
}

/**
 * Limits the requests per minute of each name, such as an address. A replica counts in memory, without a query. It shares
 * its count whenever the count has grown by a tenth of the limit. So each replica can exceed the limit by a tenth, and a
 * name with few requests adds no row to the database.
 */
export class MinuteLimit {
  readonly limit: number;
  readonly #step: number;
  readonly #share: ShareCount | undefined;
  readonly #counters = new LRUCache<string, Counter>({ max: MAX_NAMES });

  /** @param share undefined counts the requests of this replica only */
  constructor(limit: number, share?: ShareCount) {
    this.limit = limit;
    this.#step = Math.ceil(limit / STEPS);
    this.#share = share;
  }

  /** Counts a request. Those over the limit are not counted. */
  count(name: string): Quota {
    const now = performance.now();
    let counter = this.#current(name, now);
    if (counter === undefined) {
      counter = { requests: 0, shared: 0, elsewhere: 0, sharing: false, ends: now + WINDOW_SECONDS * 1000 };
      this.#counters.set(name, counter);
    }
    const exceeded = counter.requests + counter.elsewhere >= this.limit;
    if (!exceeded) {
      counter.requests++;
      void this.#shareCount(name, counter);
    }
    return this.#quota(counter, now, exceeded);
  }

  /** Whether no further request of the name is accepted. Does not count a request. */
  exceeded(name: string): Quota | undefined {
    const now = performance.now();
    const counter = this.#current(name, now);
    const exceeded = counter !== undefined && counter.requests + counter.elsewhere >= this.limit;
    return exceeded ? this.#quota(counter, now, true) : undefined;
  }

  #current(name: string, now: number): Counter | undefined {
    const counter = this.#counters.get(name);
    return counter !== undefined && counter.ends > now ? counter : undefined;
  }

  #quota({ requests, elsewhere, ends }: Counter, now: number, exceeded: boolean): Quota {
    return { ...quotaOf(this.limit, { requests: requests + elsewhere, endsInMs: ends - now }), exceeded };
  }

  /** Shares the count if enough was added to it. No request waits for this. */
  async #shareCount(name: string, counter: Counter): Promise<void> {
    if (this.#share === undefined || counter.sharing) return;
    counter.sharing = true;
    try {
      while (counter.requests - counter.shared >= this.#step) {
        const { requests, shared } = counter;
        counter.shared = requests;
        const count = await this.#share(name, requests - shared);
        if (count === undefined) return;
        counter.elsewhere = Math.max(counter.elsewhere, count.requests - requests);
        counter.ends = Math.min(counter.ends, performance.now() + count.endsInMs);
      }
    } catch {
      // Without the database, each replica limits by its own count.
    } finally {
      counter.sharing = false;
    }
  }
}

/** The state of a limit after the last of these requests was counted. */
export function quotaOf(limit: number, { requests, endsInMs }: RequestCount): Quota {
  const resetSeconds = Math.min(WINDOW_SECONDS, Math.max(1, Math.ceil(endsInMs / 1000)));
  return { limit, remaining: Math.max(0, limit - requests), resetSeconds, exceeded: requests > limit };
}
