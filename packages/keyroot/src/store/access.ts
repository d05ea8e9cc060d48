import { TransportError } from "../errors.ts";
import { withTimeout } from "../transport/timeout.ts";
import type { Store } from "./store.ts";

/** Maximum time in ms to wait for a store, and the maximum fraction of a verification's time limit. */
const STORE_MS = 2000;
const STORE_SHARE = 0.1;

/**
 * Uses the app's store, for at most 2 seconds.
 * @param what the name of the store, for the error message
 * @throws TransportError STORE_UNAVAILABLE
 */
export async function accessStore<T>(what: string, timeoutMs: number, work: () => T | Promise<T>): Promise<T> {
  try {
    const limitMs = Math.ceil(Math.min(STORE_MS, timeoutMs * STORE_SHARE));
    return await withTimeout(what, limitMs, undefined, async () => work());
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TransportError("STORE_UNAVAILABLE", `${what} is unavailable: ${reason}`, { cause });
  }
}

/**
 * Returns a store for data that can be fetched again. If the store fails or does not respond, a text is missing or is
 * not stored.
 * @param what the name of the store, for error messages
 * @param failed is called with each failure
 */
export function asCache(
  what: string,
  store: Store,
  timeoutMs: number,
  failed?: (error: TransportError) => void,
): Store {
  const attempt = async <T>(work: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await accessStore(what, timeoutMs, work);
    } catch (error) {
      failed?.(error as TransportError);
      return undefined;
    }
  };
  return {
    get: (name) => attempt(() => store.get(name)),
    set: (name, text) => attempt(() => store.set(name, text)),
  };
}
