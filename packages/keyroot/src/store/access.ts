import { TransportError } from "../errors.ts";
import { withTimeout } from "../transport/timeout.ts";
import type { Store } from "./store.ts";

/** The fraction of a verification's time limit for one access to a store. */
const STORE_SHARE = 0.1;

/**
 * Returns a store that never throws, for data that can be fetched again. If the app's store fails or takes more than a
 * tenth of the time limit, reads return undefined, and writes have no effect.
 * @param what the name of the store, for error messages
 * @param failed is called with each failure, TransportError STORE_UNAVAILABLE
 */
export function asCache(
  what: string,
  store: Store,
  timeoutMs: number,
  failed?: (error: TransportError) => void,
): Store {
  const attempt = async <T>(work: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await withTimeout(what, Math.ceil(timeoutMs * STORE_SHARE), undefined, async () => work());
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      failed?.(new TransportError("STORE_UNAVAILABLE", `${what} is unavailable: ${reason}`, { cause }));
      return undefined;
    }
  };
  return {
    get: (name) => attempt(() => store.get(name)),
    set: (name, text) => attempt(() => store.set(name, text)),
  };
}
