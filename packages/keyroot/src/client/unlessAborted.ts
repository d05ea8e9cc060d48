import { TransportError } from "../errors.ts";

/**
 * Waits for a promise, but no longer than `signal` lets. What the promise stands for goes on: others may wait for it, too.
 * @throws TransportError ABORTED; and what the promise is rejected with
 */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  const { promise: givenUp, reject: giveUp } = Promise.withResolvers<never>();
  const abort = () => {
    giveUp(abortedBy(signal));
  };
  signal.addEventListener("abort", abort, { once: true });
  try {
    if (signal.aborted) abort();
    return await Promise.race([givenUp, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** The error of a caller who gave up. */
export function abortedBy({ reason }: AbortSignal): TransportError {
  return new TransportError("ABORTED", "The caller ended the request.", { cause: reason });
}
