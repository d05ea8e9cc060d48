import { ArgumentError } from "../errors.ts";

/** The parts of a URL, as `URL` names them. */
export type UrlParts = Pick<URL, "href" | "protocol" | "host" | "hostname" | "port"> &
  Partial<Pick<URL, "username" | "password">>;

/**
 * URLs that all parsers read alike: a host in lower case or an IPv4 address with four decimal numbers, a port, and a path of ASCII
 * characters.
 */
const PLAIN_URL =
  /^(https?:)\/\/(((?:[a-z\d_-]+\.)*[a-z][a-z\d-]*|(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2}))(?::([1-9]\d{0,4}))?)(\/[!-[\]-~]*)?$/;

/**
 * Parses an http(s) URL. React Native's own `URL` accepts any text and finds a false host in some, and other engines have
 * none. There, only plain URLs are accepted.
 * @throws ArgumentError ARGUMENT_INVALID, with a message that does not show the URL, which may contain a secret
 */
export function parseUrl(url: string): UrlParts {
  if (hasUrlParser()) {
    try {
      return new URL(url);
    } catch {
      // The text is not a URL. The error below does not contain it.
    }
  } else {
    const [, protocol = "", host, hostname = "", port = "", path = "/"] = PLAIN_URL.exec(url) ?? [];
    if (host) return { href: `${protocol}//${host}${path}`, protocol, host, hostname, port };
  }
  throw new ArgumentError("ARGUMENT_INVALID", "The text is not a URL.");
}

/** A URL in the notation of the parser, without its fragment. @throws ArgumentError ARGUMENT_INVALID */
export function normalizeUrl(url: string): string {
  return parseUrl(url).href.replace(/#.*/s, "");
}

/** Whether the platform has a parser that follows the URL standard: it writes hosts in lower case, without the usual port. */
function hasUrlParser(): boolean {
  return typeof URL !== "undefined" && new URL("http://A:80").host === "a";
}
