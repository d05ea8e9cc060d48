import pRetry from "p-retry";
import { TransportError } from "keyroot/errors";
import { checkOptions } from "./checkOptions.ts";

/** Number and delays of retries. */
export interface RetryOptions {
  /** Number of retries before the error is thrown. 0 disables retries. */
  retries: number;
  /** The delay before the first retry in ms. It doubles with each retry, times a random factor of 1 to 2, up to 30 s. */
  initialDelayMs: number;
}

/** The retries of reads if the caller sets none. */
export const DEFAULT_RETRY: RetryOptions = { retries: 5, initialDelayMs: 500 };

const OPTIONS: Record<keyof RetryOptions, true> = { retries: true, initialDelayMs: true };
const MAX_DELAY_MS = 30_000;

/** Error codes of nodes that may succeed later: limit exceeded (EIP-1474), internal error (JSON-RPC 2.0, section 5.1). */
const TRANSIENT_RPC_CODES: readonly unknown[] = [-32005, -32603];

/**
 * Runs `request`, and repeats it with exponential backoff while it fails with a transient error. Use it for reads only:
 * a repeated write may take effect twice.
 * @throws the last error of `request`; one that is not transient is thrown at once
 */
export function withRetry<T>(request: () => Promise<T>, options: RetryOptions = DEFAULT_RETRY): Promise<T> {
  const { retries, initialDelayMs } = checkOptions("The retry's options", options, OPTIONS);
  return pRetry(request, {
    retries,
    minTimeout: initialDelayMs,
    maxTimeout: MAX_DELAY_MS,
    randomize: true,
    shouldRetry: ({ error }) => isTransient(error),
  });
}

/** True for a failed request that may succeed when repeated: no answer, an invalid answer, HTTP status 429 or 5xx. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof TransportError)) return false;
  const { code, actual } = error;
  if (code !== "RPC_ERROR" && code !== "FILE_HOST_ERROR" && code !== "WEBHOOK_ERROR") {
    return ["UNREACHABLE", "TIMEOUT", "RPC_ANSWER_INVALID"].includes(code);
  }
  const isTransientStatus = typeof actual === "number" && (actual === 429 || (actual >= 500 && actual < 600));
  return isTransientStatus || TRANSIENT_RPC_CODES.includes(actual);
}
