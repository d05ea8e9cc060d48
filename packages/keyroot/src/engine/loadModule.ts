import { TransportError } from "../errors.ts";

/**
 * Loads a module on demand. Import errors differ between platforms and bundlers, so all dynamic imports of the library
 * use this function and fail with the same error.
 * @param load calls `import()` with a literal path, which bundlers require
 * @throws TransportError MODULE_UNAVAILABLE
 */
export async function loadModule<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const message = "A module cannot be loaded. Reload the app, or import keyroot/service-worker in a service worker.";
    throw new TransportError("MODULE_UNAVAILABLE", message, { cause });
  }
}
