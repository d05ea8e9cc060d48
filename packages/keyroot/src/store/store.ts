import { checkObject, invalidArgument } from "../input/options.ts";

/**
 * A store for named texts, for a verifier's cache and its watch. To make a store, use `keyroot/store/indexeddb`,
 * `keyroot/store/file` or `keyroot/store/key-value`. A `Map` is also a store, but it loses all texts when the process
 * ends.
 *
 * Protect the store like the app's own data. Anyone who can write to it can make the app accept a false key.
 */
export interface Store {
  /** Returns the last stored text with this name, or undefined if there is no such text. */
  get(name: string): Promise<string | undefined> | string | undefined;
  /** Stores a text under a name. A returned promise resolves after the text is stored. */
  set(name: string, text: string): unknown;
}

/** Checks that a value is a store, and returns it. @throws ArgumentError ARGUMENT_INVALID */
export function checkStore(what: string, store: Store): Store {
  const methods: Record<keyof Store, unknown> = checkObject(what, store, "an object with the functions get and set");
  if (typeof methods.get === "function" && typeof methods.set === "function") return store;
  throw invalidArgument(what, "an object with the functions get and set", store);
}
