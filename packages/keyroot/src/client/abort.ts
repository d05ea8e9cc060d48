import { withResolvers } from "../engine/language.ts";
import { TransportError } from "../errors.ts";

/**
 * Waits for a promise or for the abort of a signal. The work behind the promise continues, because other callers may
 * wait for it.
 * @throws TransportError ABORTED; and the errors of the promise
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

export function abortedError({ reason }: AbortSignal): TransportError {
  return new TransportError("ABORTED", "The caller aborted the request.", { cause: reason });
}
