import pRetry from "p-retry";
import { TransportError } from "keyroot/internal/errors";
import { checkOptions } from "../checkOptions.ts";

/** The number and the delays of retries. */
export interface RetryOptions {
  /** The maximum number of retries after temporary errors. 0 disables retries. */
  retries: number;
  /**
   * The delay before the first retry in ms. The delay doubles with each retry, and is multiplied by a random factor
   * from 1 to 2. The maximum delay is 30 s.
   */
  initialDelayMs: number;
}

/** The default retries for reads. */
export const DEFAULT_RETRY: RetryOptions = { retries: 5, initialDelayMs: 500 };

const OPTIONS: Record<keyof RetryOptions, true> = { retries: true, initialDelayMs: true };
const MAX_DELAY_MS = 30_000;

/**
 * The error codes of nodes for temporary failures. -32005 means that a limit was exceeded (EIP-1474). -32603 is an internal
 * error (JSON-RPC 2.0, section 5.1).
 */
const TRANSIENT_RPC_CODES: readonly unknown[] = [-32005, -32603];

/**
 * Calls `request`, and repeats the call with exponential backoff after temporary errors. Use this function only for
 * reads, because a repeated write may take effect twice.
 * @throws the last error of `request`. An error that is not temporary is thrown at once
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

/**
 * Returns true if a repeated request may succeed. A repeated request may succeed if there was no response or an invalid
 * response, and after the HTTP status 429 or 5xx.
 */
export function isTransient(error: unknown): error is TransportError {
  if (!(error instanceof TransportError)) return false;
  const { code, actual } = error;
  if (code !== "RPC_ERROR" && code !== "FILE_HOST_ERROR" && code !== "WEBHOOK_ERROR") {
    return ["UNREACHABLE", "TIMEOUT", "RPC_ANSWER_INVALID"].includes(code);
  }
  const isTransientStatus = typeof actual === "number" && (actual === 429 || (actual >= 500 && actual < 600));
  return isTransientStatus || TRANSIENT_RPC_CODES.includes(actual);
}
