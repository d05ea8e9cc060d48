const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000];

/** Delays in ms after each failed attempt, which allow 10 attempts within about 3 days. */
const DELAYS_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  16 * HOUR + 25 * MINUTE,
  24 * HOUR,
];
/** Maximum time between the first and the last attempt, in ms. */
const LAST_MS = 80 * HOUR;
/**
 * The maximum random extension of a delay, relative to the delay. It prevents all failed deliveries from being repeated
 * at the same time.
 */
const JITTER = 0.1;
/** Maximum wait in ms that an endpoint may request with Retry-After. */
const MAX_RETRY_AFTER_MS = 24 * HOUR;

/** Values that determine the time of the next attempt. */
export interface FailedAttempt {
  /** Number of failed attempts, including the last attempt. */
  attempts: number;
  firstAttempt: number;
  now: number;
  /** The endpoint's Retry-After in ms. Undefined if the response has no such header. */
  retryAfterMs?: number | undefined;
}

/**
 * Returns the time of a delivery's next attempt.
 * @param random a number from 0 to 1
 * @returns undefined if no attempts are left
 */
export function nextAttempt(
  { attempts, firstAttempt, now, retryAfterMs = 0 }: FailedAttempt,
  random = Math.random(),
): number | undefined {
  const delay = DELAYS_MS[attempts - 1];
  if (delay === undefined) return undefined;
  const wait = Math.max(delay * (1 + JITTER * random), Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
  const due = Math.round(now + wait);
  return due - firstAttempt > LAST_MS ? undefined : due;
}
