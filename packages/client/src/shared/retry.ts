import { withResolvers } from "keyroot/internal/engine";
import { ServiceError, TransportError } from "../errors.ts";
import { rejectOnAbort } from "keyroot/internal/transport";
import type { CallOptions } from "./options.ts";

/**
 * The HTTP statuses after which a repeated request may succeed. They mean that a rate limit was reached, or that the
 * service or a proxy was not available.
 */
const TRANSIENT_STATUSES: readonly number[] = [429, 502, 503, 504];
const TRANSIENT_CODES: readonly string[] = ["UNREACHABLE", "TIMEOUT"];

/** Maximum wait in ms that a service can request with Retry-After. */
const MAX_RETRY_AFTER_MS = 30_000;
/** Maximum wait in ms before the first retry, if there is no Retry-After. The wait doubles with each retry. */
const FIRST_BACKOFF_MS = 300;
const MAX_BACKOFF_MS = 10_000;

/**
 * Calls `send`, and repeats the call after a transient failure: UNREACHABLE, TIMEOUT, or the HTTP status 429, 502, 503
 * or 504. Use it only for requests that may arrive twice without harm.
 * @throws TransportError ABORTED
 * @throws the error of the last attempt
 */
export async function sendWithRetry<T>(
  send: () => Promise<T>,
  { retries, signal }: CallOptions & { retries: number },
): Promise<T> {
  for (let retriesBefore = 0; ; retriesBefore++) {
    try {
      return await send();
    } catch (error) {
      if (retriesBefore >= retries || !isTransientFailure(error)) throw error;
      await sleep(delayBefore(retriesBefore, error), signal);
    }
  }
}

function isTransientFailure(error: unknown): boolean {
  if (error instanceof ServiceError) return TRANSIENT_STATUSES.includes(error.status);
  return error instanceof TransportError && TRANSIENT_CODES.includes(error.code);
}

function delayBefore(retriesBefore: number, error: unknown): number {
  const retryAfter = error instanceof ServiceError ? error.retryAfter : undefined;
  if (retryAfter !== undefined) return Math.min(retryAfter * 1000, MAX_RETRY_AFTER_MS);
  // The wait is random, from zero to the maximum ("full jitter"). Clients that failed at the same time then retry at
  // different times.
  return Math.min(Math.random() * FIRST_BACKOFF_MS * 2 ** retriesBefore, MAX_BACKOFF_MS);
}

async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = withResolvers<undefined>();
  const timer = setTimeout(resolve, ms);
  try {
    await rejectOnAbort(promise, signal);
  } finally {
    clearTimeout(timer);
  }
}
