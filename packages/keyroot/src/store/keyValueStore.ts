import { TransportError } from "../errors.ts";
import { checkFunction, checkObject } from "../input/options.ts";
import type { Store } from "./store.ts";

/** A key-value storage with the functions of the Web Storage API. The functions may return promises. */
export interface KeyValueStorage {
  /** Returns the text with this name. Returns null or undefined if there is no such text. */
  getItem(name: string): unknown;
  /** Stores a text under a name. A returned promise resolves after the text is stored. */
  setItem(name: string, text: string): unknown;
}

/**
 * Makes a store from any key-value storage, such as AsyncStorage, `expo-sqlite/kv-store` or `localStorage`.
 * @returns the store, whose functions throw TransportError STORE_UNAVAILABLE
 * @throws ArgumentError ARGUMENT_INVALID
 * @example
 * const store = keyValueStore(AsyncStorage);
 */
export function keyValueStore(storage: KeyValueStorage): Store {
  const methods: Record<keyof KeyValueStorage, unknown> = checkObject("The storage", storage);
  checkFunction("The storage's getItem", methods.getItem);
  checkFunction("The storage's setItem", methods.setItem);
  return {
    get: (name) =>
      access("read", async () => {
        const text = (await storage.getItem(name)) ?? undefined;
        if (text === undefined || typeof text === "string") return text;
        throw new TypeError(`The value must be a text, but has the type ${typeof text}.`);
      }),
    set: (name, text) => access("write to", () => storage.setItem(name, text)),
  };
}

async function access<T>(operation: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new TransportError(
      "STORE_UNAVAILABLE",
      `Keyroot cannot ${operation} the app's key-value store. Check the storage.`,
      { cause },
    );
  }
}
