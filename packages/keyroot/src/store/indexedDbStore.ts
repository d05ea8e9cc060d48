import { requireFeature } from "../engine/requireFeature.ts";
import { EnvironmentError, TransportError } from "../errors.ts";
import { withTimeout } from "../transport/timeout.ts";
import type { Store } from "./store.ts";

const TEXTS = "texts";
/** Maximum time in ms until the browser must have opened the database. */
const OPEN_MS = 5000;

/**
 * Makes a store in the browser's IndexedDB, which all tabs of an origin share. The browser may delete the data unless
 * you call `navigator.storage.persist()`.
 * @param name the name of the database
 * @returns the store, whose functions throw TransportError STORE_UNAVAILABLE and EnvironmentError
 * ENVIRONMENT_UNSUPPORTED
 * @example
 * const store = indexedDbStore();
 */
export function indexedDbStore(name = "keyroot"): Store {
  let opened: Promise<IDBDatabase> | undefined;

  const open = () => {
    const request = indexedDB.open(name, 1);
    return new Promise<IDBDatabase>((resolve, reject) => {
      request.onupgradeneeded = () => request.result.createObjectStore(TEXTS);
      request.onsuccess = () => {
        const database = request.result;
        // If the browser closes the connection, or another tab deletes the database, the next access opens a new
        // connection.
        database.onclose = database.onversionchange = () => {
          database.close();
          opened = undefined;
        };
        resolve(database);
      };
      request.onerror = () => {
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- a DOMException is an error
        reject(request.error);
      };
    });
  };
  /** Opens the database. Safari sometimes never answers the first request, but answers a later one. */
  const connect = () => {
    opened ??= withTimeout("The browser", OPEN_MS, undefined, open).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  const access = async <T>(mode: IDBTransactionMode, work: (texts: IDBObjectStore) => IDBRequest<T>): Promise<T> => {
    try {
      // Where storage is blocked, browsers throw an error as soon as a program reads this property.
      const { indexedDB } = globalThis as Partial<typeof globalThis>;
      requireFeature("indexedDB", indexedDB, "fake-indexeddb/auto, or use another store");
      const transaction = (await connect()).transaction(TEXTS, mode);
      const request = work(transaction.objectStore(TEXTS));
      await new Promise<void>((resolve, reject) => {
        transaction.oncomplete = () => {
          resolve();
        };
        transaction.onabort = () => {
          // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- a DOMException is an error
          reject(transaction.error);
        };
      });
      return request.result;
    } catch (cause) {
      if (cause instanceof EnvironmentError) throw cause;
      throw new TransportError(
        "STORE_UNAVAILABLE",
        `The browser's database ${name} is unavailable. Check the browser's storage settings.`,
        { cause },
      );
    }
  };
  return {
    get: (name) => access("readonly", (texts) => texts.get(name) as IDBRequest<string | undefined>),
    set: (name, text) => access("readwrite", (texts) => texts.put(text, name)),
  };
}
