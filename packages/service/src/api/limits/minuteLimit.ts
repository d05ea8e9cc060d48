import { LRUCache } from "lru-cache";
import { ServiceError } from "../base/errors.ts";
import { type RequestCount, WINDOW_SECONDS } from "./requestCounts.ts";

/**
 * The maximum number of names, such as addresses, with a counter in memory. A counter takes about 200 bytes. If there
 * are more names, the least recently used counters are dropped.
 */
const MAX_NAMES = 100_000;
/** Number of times that a replica shares a name's count before the count reaches the limit. */
const STEPS = 10;

/** The state of a rate limit after a request was counted. */
export interface Quota {
  limit: number;
  /** Number of requests that are still accepted in this minute. */
  remaining: number;
  /** Seconds until the limit resets, 1 to 60. */
  resetSeconds: number;
  /** Whether the counted request exceeds the limit. */
  exceeded: boolean;
}

/**
 * Adds requests to the common count of all replicas.
 * @returns the common count, or undefined if the name's count is not shared
 */
export type ShareCount = (name: string, requests: number) => Promise<RequestCount | undefined>;

interface Counter {
  /** Number of requests that this replica counted. */
  requests: number;
  /** Number of requests that this replica has shared with other replicas. */
  shared: number;
  /** Number of requests that other replicas have shared. */
  elsewhere: number;
  /** Whether the count is being shared now. Two concurrent updates could arrive in the wrong order. */
  sharing: boolean;
  /** End of the counted minute, in ms of `performance.now()`. */
  ends: number;
}

/**
 * Limits the requests per minute for each name, for example an address.
 *
 * Each replica counts in memory. Whenever its count has grown by 10% of the limit, it adds the new requests to the
 * database. A replica can therefore exceed the limit by 10%, but names with few requests add no rows to the database.
 */
export class MinuteLimit {
  readonly limit: number;
  readonly #step: number;
  readonly #share: ShareCount | undefined;
  readonly #counters = new LRUCache<string, Counter>({ max: MAX_NAMES });

  /** @param share shares counts with other replicas. If undefined, only this replica's requests are counted */
  constructor(limit: number, share?: ShareCount) {
    this.limit = limit;
    this.#step = Math.ceil(limit / STEPS);
    this.#share = share;
  }

  /** Counts a request, unless the request exceeds the limit. */
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

  /**
   * Returns the quota if further requests of the name are rejected, and undefined otherwise. It does not count a
   * request.
   */
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

  /** Shares the count if it has grown by at least one step. Requests do not wait for this. */
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
      // If the database is unavailable, each replica uses only its own count.
    } finally {
      counter.sharing = false;
    }
  }
}

/** Returns the state of a limit after the last counted request. */
export function quotaOf(limit: number, { requests, endsInMs }: RequestCount): Quota {
  const resetSeconds = Math.min(WINDOW_SECONDS, Math.max(1, Math.ceil(endsInMs / 1000)));
  return { limit, remaining: Math.max(0, limit - requests), resetSeconds, exceeded: requests > limit };
}

/**
 * Rejects a request that exceeds a limit.
 * @param what the counted requests, for the error message
 * @throws ServiceError RATE_LIMITED
 */
export function refuseExceeded(quota: Quota | undefined, what: string): void {
  if (quota?.exceeded !== true) return;
  const { limit, resetSeconds: retryAfter } = quota;
  const message = `There were more than ${limit} ${what} in a minute. Wait ${retryAfter} s.`;
  throw new ServiceError(429, "RATE_LIMITED", message, { retryAfter });
}
