import { RateLimiterDrizzle, RateLimiterRes } from "rate-limiter-flexible";
import { ServiceError } from "keyroot/errors";
import type { Database } from "../store/database.ts";
import { rateLimits } from "../store/tables.ts";

const WINDOW_SECONDS = 60;

/** Counts a request of a caller. @throws ServiceError RATE_LIMITED */
export type RateLimit = (caller: string) => Promise<void>;

/**
 * Limits each caller to a number of requests per minute, counted in the home database for all replicas together. A replica
 * rejects a caller that is over the limit without a query until the minute ends.
 * @param perMinute 0 for no limit
 */
export function rateLimitIn(home: Database, perMinute: number): RateLimit {
  if (perMinute === 0) return () => Promise.resolve();
  const limiter = new RateLimiterDrizzle({
    storeClient: home,
    schema: rateLimits,
    points: perMinute,
    duration: WINDOW_SECONDS,
    inMemoryBlockOnConsumed: perMinute + 1,
    clearExpiredByTimeout: true,
  });
  return async (caller) => {
    try {
      await limiter.consume(caller);
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      const retryAfter = Math.max(1, Math.ceil(error.msBeforeNext / 1000));
      const message = `More than ${perMinute} requests in a minute: wait ${retryAfter} s.`;
      throw new ServiceError(429, "RATE_LIMITED", message, { retryAfter });
    }
  };
}
