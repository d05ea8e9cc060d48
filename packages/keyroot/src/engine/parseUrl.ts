import { ArgumentError } from "../errors.ts";

/** The parts of a URL, with the names of the `URL` class. */
export type UrlParts = Pick<URL, "href" | "protocol" | "host" | "hostname" | "port"> &
  Partial<Pick<URL, "username" | "password">>;

/**
 * Matches URLs that every parser interprets in the same way. The host is a lowercase name or an IPv4 address of four
 * decimal numbers, with or without a port, and the path is ASCII.
 */
const PLAIN_URL =
  /^(https?:)\/\/(((?:[a-z\d_-]+\.)*[a-z][a-z\d-]*|(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2}))(?::([1-9]\d{0,4}))?)(\/[!-[\]-~]*)?$/;

/**
 * Parses an http(s) URL. On platforms without the class `URL`, only plain URLs are accepted. The same applies to React
 * Native, whose `URL` accepts any text and returns a wrong host for some texts.
 * @throws ArgumentError ARGUMENT_INVALID. The message does not contain the URL, which may include a secret.
 */
export function parseUrl(url: string): UrlParts {
  if (hasUrlParser()) {
    try {
      return new URL(url);
    } catch {
      // The text is not a URL. Throw an error that does not contain it.
    }
  } else {
    const [, protocol = "", host, hostname = "", port = "", path = "/"] = PLAIN_URL.exec(url) ?? [];
    if (host) return { href: `${protocol}//${host}${path}`, protocol, host, hostname, port };
  }
  throw new ArgumentError("ARGUMENT_INVALID", "The text is not a URL.");
}

/** Returns a URL in the parser's normal form, without the fragment. @throws ArgumentError ARGUMENT_INVALID */
export function normalizeUrl(url: string): string {
  return parseUrl(url).href.replace(/#.*/s, "");
}

/**
 * Checks whether the platform's `URL` follows the URL standard, which requires lowercase hosts without default ports.
 */
function hasUrlParser(): boolean {
  return typeof URL !== "undefined" && new URL("http://A:80").host === "a";
}
