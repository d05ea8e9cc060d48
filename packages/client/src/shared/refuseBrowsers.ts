import { ArgumentError } from "../errors.ts";

/**
 * Throws an error in browsers, because every visitor of a web page could read the client's token.
 * @param message the error message, which names the entry, the client's token and the remedy
 */
export function refuseBrowsers(message: string): void {
  const { process, navigator, document, importScripts } = globalThis as Record<string, unknown>;
  // Cloudflare Workers have `process` only with a compatibility flag.
  const isServer =
    process !== undefined || (navigator as Partial<Navigator> | undefined)?.userAgent === "Cloudflare-Workers";
  if (isServer && document === undefined && importScripts === undefined) return;
  throw new ArgumentError("BROWSER_REFUSED", message);
}
