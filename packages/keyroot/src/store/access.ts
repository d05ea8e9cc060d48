import { TransportError } from "../errors.ts";
import { monotonicNow, timeLeft, withTimeout } from "../transport/timeout.ts";
import type { Store } from "./store.ts";

/** The fraction of a call's time limit for one access to a store. */
const ACCESS_SHARE = 0.1;
/** The fraction for which a call waits in the end until its texts are stored. */
const CLOSE_SHARE = 0.3;
/** The fraction after which all accesses have ended, so that a slow store never causes a timeout of the call. */
const END_SHARE = 0.97;
/** Maximum number of texts that are being stored at the same time. */
const WRITES_AT_ONCE = 16;

/** A store during one call, which never throws. */
export interface SafeStore {
  get(name: string): Promise<string | undefined>;
  /** Stores a text in the background. `get` returns the text immediately. */
  set(name: string, text: string): void;
  /** Waits until all texts are stored, but only as long as the store may delay the call. */
  close: () => Promise<unknown>;
}

/**
 * Opens a store for one call, for data that can be fetched again. If the app's store fails, reads return undefined, and
 * writes have no effect. After an access that takes more than a tenth of the time limit, the call no longer uses the
 * store.
 * @param what the name of the store, for error messages
 * @param failed is called with each failure until then, TransportError STORE_UNAVAILABLE
 */
export function asCache(
  what: string,
  store: Store,
  timeoutMs: number,
  failed: (error: TransportError) => void,
): SafeStore {
  const deadline = monotonicNow() + timeoutMs * END_SHARE;
  let isStuck = false;
  let report: typeof failed | undefined = failed;
  const attempt = async <T>(work: () => T | Promise<T>, share = ACCESS_SHARE): Promise<T | undefined> => {
    if (isStuck) return undefined;
    try {
      return await withTimeout(what, timeLeft(timeoutMs * share, deadline), undefined, async () => work());
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      report?.(new TransportError("STORE_UNAVAILABLE", `${what} is unavailable: ${reason}`, { cause }));
      isStuck ||= cause instanceof TransportError && cause.code === "TIMEOUT";
      // Other accesses that are still running fail for the same reason.
      if (isStuck) report = undefined;
      return undefined;
    }
  };

  /** The texts that are not stored yet, by name. */
  const unsaved = new Map<string, string>();
  /** All writes. Each begins when the one 16 places before it has ended. */
  const writes: Promise<void>[] = [];
  const write = async (name: string, before?: Promise<void>): Promise<void> => {
    await before;
    const text = unsaved.get(name) ?? "";
    await attempt(() => store.set(name, text));
    // The text may have been replaced meanwhile.
    if (unsaved.get(name) !== text) return write(name);
    unsaved.delete(name);
  };
  return {
    get: async (name) => unsaved.get(name) ?? attempt(() => store.get(name)),
    set(name, text) {
      const isWaiting = unsaved.has(name);
      unsaved.set(name, text);
      if (!isWaiting) writes.push(write(name, writes[writes.length - WRITES_AT_ONCE]));
    },
    close: () => attempt(() => Promise.all(writes), CLOSE_SHARE),
  };
}
