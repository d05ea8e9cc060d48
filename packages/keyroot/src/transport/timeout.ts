import { withResolvers } from "../engine/language.ts";
import { requireFeature } from "../engine/requireFeature.ts";
import { KeyrootError, TransportError } from "../errors.ts";

/** Returns the time in ms since a fixed moment. */
export function monotonicNow(): number {
  const { performance } = globalThis as { performance?: Performance };
  return performance === undefined ? Date.now() : performance.now();
}

/** Returns the time that a request may still take, in whole ms. @param deadline in the time of `monotonicNow` */
export function timeLeft(timeoutMs: number, deadline = Infinity): number {
  return Math.max(1, Math.floor(Math.min(timeoutMs, deadline - monotonicNow())));
}

/**
 * Runs `work`, and throws an error when `timeoutMs` have passed or `signal` aborts. It does so even if `work` ignores
 * the signal that it receives. At the end, the signal that `work` received is always aborted, which closes all open
 * requests.
 * @param subject the name of the host or task, for error messages
 * @throws TransportError TIMEOUT or ABORTED, or an error of `work`
 */
export async function withTimeout<T>(
  subject: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { AbortController, setTimeout }: Partial<typeof globalThis> = globalThis;
  requireFeature("setTimeout", setTimeout, "it in the engine's host");
  const ended = new (requireFeature("AbortController", AbortController, "abort-controller/polyfill"))();
  const { promise: failed, reject: fail } = withResolvers<never>();
  const abort = () => {
    fail(abortedError(signal));
  };
  // The timer of AbortSignal.timeout would continue after the request, and would not keep Node running.
  const timer = setTimeout(() => {
    fail(new TransportError("TIMEOUT", `${subject} did not finish within ${timeoutMs} ms.`));
  }, timeoutMs);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    if (signal?.aborted) throw abortedError(signal);
    return await Promise.race([failed, work(ended.signal)]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
    // The default reason has a stack trace, which would take more time than the rest of this function.
    ended.abort("ended");
  }
}

/**
 * Waits until a promise settles or a signal aborts. After an abort, the work behind the promise continues, because
 * other callers may still wait for it.
 * @throws TransportError ABORTED, or the error of the promise
 */
export async function rejectOnAbort<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  const { promise: aborted, reject } = withResolvers<never>();
  const abort = () => {
    reject(abortedError(signal));
  };
  signal.addEventListener("abort", abort, { once: true });
  try {
    if (signal.aborted) abort();
    return await Promise.race([aborted, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

export function abortedError(signal: AbortSignal | undefined): TransportError {
  return new TransportError("ABORTED", "The caller aborted the request.", { cause: signal?.reason });
}

/**
 * Returns an error if the caller can continue with other hosts after it, and throws it otherwise.
 * @throws the error if its code is ABORTED, or if it is not a KeyrootError
 */
export function recoverable(error: unknown): KeyrootError {
  if (error instanceof KeyrootError && error.code !== "ABORTED") return error;
  throw error;
}
