import { requireFeature } from "../engine/requireFeature.ts";
import { TransportError } from "../errors.ts";
import type { Store } from "./store.ts";

const TEXTS = "texts";

/**
 * Makes a store in the browser's IndexedDB, which all tabs of an origin share. Call `navigator.storage.persist()` if
 * the browser must not delete the data.
 * @param name the name of the database
 * @returns a store
 * @throws TransportError STORE_UNAVAILABLE, EnvironmentError ENVIRONMENT_UNSUPPORTED, from the functions of the store
 * @example
 * const store = indexedDbStore();
 */
export function indexedDbStore(name = "keyroot"): Store {
  let opened: Promise<IDBDatabase> | undefined;

  const open = () => {
    opened ??= new Promise((resolve, reject) => {
      const request = indexedDB.open(name, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(TEXTS);
      request.onsuccess = () => {
        const database = request.result;
        // The browser can close the connection, and another tab can delete the database. The next access then opens a
        // new connection.
        database.onclose = database.onversionchange = () => {
          database.close();
          opened = undefined;
        };
        resolve(database);
      };
      request.onerror = () => {
        opened = undefined;
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- a DOMException is an error
        reject(request.error);
      };
    });
    return opened;
  };
  const access = async <T>(mode: IDBTransactionMode, work: (texts: IDBObjectStore) => IDBRequest<T>): Promise<T> => {
    requireFeature(
      "indexedDB",
      (globalThis as Partial<typeof globalThis>).indexedDB,
      "fake-indexeddb/auto, or use another store",
    );
    try {
      const transaction = (await open()).transaction(TEXTS, mode);
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
