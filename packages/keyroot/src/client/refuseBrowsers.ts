import { ArgumentError } from "../errors.ts";

/**
 * Throws in browsers, where every visitor could read the client's token.
 * @param message the entry, its token and the remedy
 * @throws ArgumentError BROWSER_REFUSED
 */
export function refuseBrowsers(message: string): void {
  const { process, document, importScripts } = globalThis as Record<string, unknown>;
  if (process !== undefined && document === undefined && importScripts === undefined) return;
  throw new ArgumentError("BROWSER_REFUSED", message);
}
