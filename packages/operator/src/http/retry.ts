import pRetry from "p-retry";
import { setTimeout as sleep } from "node:timers/promises";
import { TransportError } from "keyroot/internal/errors";
import { abortedError } from "keyroot/internal/transport";
import { checkOptions } from "../checkOptions.ts";

/** The number and the delays of retries. */
export interface RetryOptions {
  /** The maximum number of retries after temporary errors. 0 disables retries. */
  retries: number;
  /**
   * The delay before the first retry in ms. It doubles with each retry, up to 30 s, and is multiplied by a random
   * factor from 1 to 2.
   */
  initialDelayMs: number;
}

/** The default retries for reads. */
export const DEFAULT_RETRY: RetryOptions = { retries: 5, initialDelayMs: 500 };

/** The default retries for a file host. If a host fails for longer, it would also fail for clients. */
export const FILE_HOST_RETRY: RetryOptions = { retries: 3, initialDelayMs: 500 };

const OPTIONS: Record<keyof RetryOptions, true> = { retries: true, initialDelayMs: true };
const MAX_DELAY_MS = 30_000;
/**
 * The longest wait, in seconds, that a host may request (Retry-After). If it requests more, it is better to run again
 * later.
 */
const MAX_RETRY_AFTER_S = 60;

/** The errors of reads that were repeated until the last retry. Nested reads do not repeat them again. */
const exhausted = new WeakSet<Error>();

/**
 * Calls `request`, and repeats it with exponential backoff after temporary errors. It waits at least as long as the
 * host requests (Retry-After). Use it only for reads, because a repeated write may take effect twice.
 * @param isTemporary whether a repeated request may succeed. Default: `isTransient`
 * @param signal ends the repetition, also while it waits
 * @throws the last error of `request`; an error that is not temporary is thrown at once; TransportError ABORTED
 */
export async function withRetry<T>(
  request: () => Promise<T>,
  options: RetryOptions = DEFAULT_RETRY,
  isTemporary: (error: Error) => boolean = isTransient,
  signal?: AbortSignal,
): Promise<T> {
  const { retries, initialDelayMs } = checkOptions("The retry's options", options, OPTIONS);
  const isRepeated = (error: Error) =>
    !exhausted.has(error) && isTemporary(error) && retryAfterOf(error) <= MAX_RETRY_AFTER_S;
  try {
    return await pRetry(request, {
      retries,
      minTimeout: initialDelayMs,
      maxTimeout: MAX_DELAY_MS,
      randomize: true,
      signal,
      shouldRetry: async ({ error, retriesLeft }) => {
        if (!isRepeated(error)) return false;
        const pauseMs = retryAfterOf(error) * 1000;
        if (retriesLeft > 0 && pauseMs > 0) await sleep(pauseMs, undefined, { signal });
        return true;
      },
    });
  } catch (error) {
    if (signal?.aborted) throw abortedError(signal);
    if (error instanceof Error) exhausted.add(error);
    throw error;
  }
}

function retryAfterOf(error: Error): number {
  return error instanceof TransportError ? (error.retryAfter ?? 0) : 0;
}

/**
 * Returns true if repeating a request to a host may help: it got no complete response, or one with the HTTP status 408,
 * 429 or 5xx. For answers of nodes, see `rpc/nodeAnswers.ts`.
 */
export function isTransient(error: unknown): error is TransportError {
  if (!(error instanceof TransportError)) return false;
  const { code, actual } = error;
  if (code !== "FILE_HOST_ERROR" && code !== "WEBHOOK_ERROR") return ["UNREACHABLE", "TIMEOUT"].includes(code);
  // An incomplete file has no status.
  return typeof actual !== "number" || actual === 408 || actual === 429 || actual >= 500;
}
