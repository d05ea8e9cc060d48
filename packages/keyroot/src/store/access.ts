import { TransportError } from "../errors.ts";
import { monotonicNow, timeLeft, withTimeout } from "../transport/timeout.ts";
import type { Store } from "./store.ts";

/** The fraction of a call's time limit for one access to a store. */
const ACCESS_SHARE = 0.1;
/** The fraction for which a call waits in the end until its texts are stored. */
const CLOSE_SHARE = 0.3;
/** The fraction after which all accesses have ended, so that a slow store never causes a timeout of the call. */
const END_SHARE = 0.97;
/** Maximum number of queued texts that are being stored at the same time. */
const WRITES_AT_ONCE = 16;

/** A text that is not stored yet. */
interface Unsaved {
  text: string;
  /** The write of this text, or of an earlier text with the same name, if it has begun. */
  write: Promise<unknown> | undefined;
}

/** The texts that are not stored yet, by store and name. All calls share them, so that none stores an older text last. */
const unsaved = new WeakMap<Store, Map<string, Unsaved>>();

/** A store during one call, which never throws. */
export interface SafeStore {
  get(name: string): Promise<string | undefined>;
  /**
   * Stores a text. From then on, `get` returns it in every call.
   * @param isQueued stores it only after most earlier texts, so that there are never too many accesses at the same time
   * @returns a promise that resolves when the text is stored, was replaced by a later one, or could not be stored
   */
  set(name: string, text: string, isQueued?: boolean): Promise<void>;
  /** Waits until all texts are stored, but only as long as the store may delay the call. */
  close: () => Promise<unknown>;
}

/**
 * Opens a store for one call, for data that can be fetched again. If the app's store fails, or an access takes more than
 * a tenth of the time limit, reads return undefined, and writes have no effect.
 * @param what the name of the store, for error messages
 * @param failed is called with each failure, TransportError STORE_UNAVAILABLE, until the first timeout
 */
export function asCache(
  what: string,
  store: Store,
  timeoutMs: number,
  failed: (error: TransportError) => void,
): SafeStore {
  const deadline = monotonicNow() + timeoutMs * END_SHARE;
  let hasTimedOut = false;
  const attempt = async <T>(work: () => T | Promise<T>, share = ACCESS_SHARE): Promise<T | undefined> => {
    try {
      return await withTimeout(what, timeLeft(timeoutMs * share, deadline), undefined, async () => work());
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      if (!hasTimedOut) failed(new TransportError("STORE_UNAVAILABLE", `${what} is unavailable: ${reason}`, { cause }));
      hasTimedOut ||= cause instanceof TransportError;
      return undefined;
    }
  };
  const texts = unsaved.get(store) ?? new Map<string, Unsaved>();
  unsaved.set(store, texts);
  const writes: Promise<unknown>[] = [];
  const write = async (name: string, entry: Unsaved, place: Promise<unknown> | undefined): Promise<void> => {
    await place;
    await entry.write;
    // A later text of this name is stored instead.
    if (texts.get(name) !== entry) return;
    entry.write = attempt(() => store.set(name, entry.text));
    await entry.write;
    if (texts.get(name) === entry) texts.delete(name);
  };
  return {
    async get(name) {
      // Many storages return null for a missing text.
      const text: unknown = texts.get(name)?.text ?? (await attempt(() => store.get(name)));
      return typeof text === "string" ? text : undefined;
    },
    set(name, text, isQueued = false) {
      const entry = { text, write: texts.get(name)?.write };
      texts.set(name, entry);
      const done = write(name, entry, isQueued ? writes[writes.length - WRITES_AT_ONCE] : undefined);
      writes.push(done);
      return done;
    },
    close: () => attempt(() => Promise.all(writes), CLOSE_SHARE),
  };
}
