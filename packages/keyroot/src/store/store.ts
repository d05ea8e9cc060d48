import { checkFunction, checkObject } from "../input/options.ts";

/**
 * Stores texts under names, for `cache` and `watch`. `keyroot/store/indexeddb`, `keyroot/store/file` and
 * `keyroot/store/key-value` make stores. A `Map` is a store that ends with the process. Anyone who can write to it can make a
 * client accept a false key, so keep it with the app's own data.
 */
export interface Store {
  /** Returns the last text that was stored under this name, or undefined. */
  get(name: string): Promise<string | undefined> | string | undefined;
  /** May return a promise, which resolves when the text is stored. */
  set(name: string, text: string): unknown;
}

/** Checks that a value is a store, and returns it. @throws ArgumentError ARGUMENT_INVALID */
export function checkStore(what: string, store: Store): Store {
  const methods: Record<keyof Store, unknown> = checkObject(what, store, "an object with get and set");
  checkFunction(`${what}.get`, methods.get);
  checkFunction(`${what}.set`, methods.set);
  return store;
}
