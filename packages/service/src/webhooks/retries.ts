const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000];

/** Delays after each failed attempt: ten attempts over three days. */
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
/** Maximum time between the first and the last attempt. */
const LAST_MS = 80 * HOUR;
/** The maximum part by which a delay is extended, so that failed deliveries do not return together. */
const JITTER = 0.1;
/** The maximum wait that an endpoint may request by Retry-After. */
const MAX_RETRY_AFTER_MS = 24 * HOUR;

/** Input for the time of the next attempt. Times are in ms since 1970. */
export interface FailedAttempt {
  /** The number of failed attempts, including this one. */
  attempts: number;
  firstAttempt: number;
  now: number;
  /** Retry-After of the endpoint in ms; undefined without this header. */
  retryAfterMs?: number | undefined;
}

/**
 * The time of a delivery's next attempt.
 * @param random from 0 to 1
 * @returns undefined if the delivery has failed
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
