import { normalizeUrl, parseUrl, type UrlParts } from "../engine/parseUrl.ts";
import { ArgumentError } from "../errors.ts";

/**
 * Checks that a value is an http(s) URL and returns it. The error contains at most the URL's host, because the other
 * parts may contain a secret.
 * @param remedy the end of the error message for unencrypted http. If it is set, http URLs of other machines are
 * rejected, because attackers in the network could read and change the data.
 * @throws ArgumentError ARGUMENT_INVALID, also for a URL with user and password, which fetch would reject
 */
export function checkUrl(option: string, url: unknown, remedy?: string): string {
  let expected = "an http(s) URL without user and password.";
  const { protocol = "", username, password, hostname = "" } = parseOrEmpty(url);
  if (/^https?:$/.test(protocol) && !username && !password) {
    if (remedy === undefined || protocol === "https:" || isLoopback(hostname)) return url as string;
    expected = `an https URL, because ${hostname} is not this machine. ${remedy}`;
  }
  throw new ArgumentError("ARGUMENT_INVALID", `The ${option} option must be ${expected}`);
}

function parseOrEmpty(url: unknown): Partial<UrlParts> {
  try {
    return typeof url === "string" ? parseUrl(url) : {};
  } catch {
    return {};
  }
}

/**
 * Adds words to the path of a URL. Slashes at the end of the URL's path are removed first. The URL's query is kept.
 * @param url a URL that `checkUrl` accepts
 * @param words a path that does not begin with a slash, with or without a query
 */
export function addPath(url: string, words: string): string {
  const [path = "", query] = normalizeUrl(url).split(/\?(.*)/s);
  const own = query ? (words.includes("?") ? "&" : "?") + query : "";
  return `${path.replace(/\/+$/, "")}/${words}${own}`;
}

/**
 * Checks the URL of an endpoint or a file host.
 * @param allowHttp true to allow unencrypted http requests to other machines
 */
export function checkSourceUrl(option: string, url: unknown, allowHttp: boolean | undefined): string {
  return checkUrl(
    option,
    url,
    allowHttp ? undefined : "To allow http, set allowHttp, --allow-http or KEYROOT_ALLOW_HTTP=true.",
  );
}

/**
 * Checks whether a host name or address means this machine (RFC 6761, section 6.3; RFC 1122, section 3.2.1.3; RFC 4291,
 * sections 2.5.3 and 2.5.5.2).
 * @param hostname a host in the form of `new URL(url).hostname`
 */
export function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost\.?|127\.\d+\.\d+\.\d+|\[::(?:1|ffff:7f..:\w+)\])$/.test(hostname);
}
