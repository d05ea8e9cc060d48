import { normalizeUrl, parseUrl, type UrlParts } from "../engine/parseUrl.ts";
import { ArgumentError } from "../errors.ts";

/**
 * Returns `url` if it is an http(s) URL. Errors contain at most its host, because URLs of endpoints contain secrets.
 * @param remedy if given, plain http to other machines is refused, because others on the network could read and change the
 * data; the message ends with it
 * @throws ArgumentError ARGUMENT_INVALID; also for a URL with user and password, which fetch rejects
 */
export function checkUrl(option: string, url: unknown, remedy?: string): string {
  let expected = "an http(s) URL without user and password.";
  const { protocol = "", username, password, hostname = "" } = parseOrEmpty(url);
  if (/^https?:$/.test(protocol) && !username && !password) {
    if (remedy === undefined || protocol === "https:" || isLoopback(hostname)) return url as string;
    expected = `an https URL, because ${hostname} is not this machine. ${remedy}`;
  }
  throw new ArgumentError("ARGUMENT_INVALID", `The option ${option} must be ${expected}`);
}

function parseOrEmpty(url: unknown): Partial<UrlParts> {
  try {
    return typeof url === "string" ? parseUrl(url) : {};
  } catch {
    return {};
  }
}

/**
 * Adds words to the path of a URL, which may end with slashes. Keeps the query.
 * @param url as `checkUrl` accepts it
 * @param words a path without slash at its beginning, and a query
 */
export function addPath(url: string, words: string): string {
  const [path = "", query] = normalizeUrl(url).split(/\?(.*)/s);
  const own = query ? (words.includes("?") ? "&" : "?") + query : "";
  return `${path.replace(/\/+$/, "")}/${words}${own}`;
}

/**
 * Checks the URL of an endpoint or a file host.
 * @param allowHttp whether plain http to other machines is allowed
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function checkSourceUrl(option: string, url: unknown, allowHttp: boolean | undefined): string {
  return checkUrl(
    option,
    url,
    allowHttp ? undefined : "To allow http, set allowHttp: true (--allow-http or KEYROOT_ALLOW_HTTP=true).",
  );
}

/**
 * Whether a host is this machine: its names and addresses (RFC 6761, section 6.3; RFC 1122, section 3.2.1.3; RFC 4291,
 * sections 2.5.3 and 2.5.5.2).
 * @param hostname as in `new URL(url).hostname`
 */
export function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost\.?|127\.\d+\.\d+\.\d+|\[::(?:1|ffff:7f..:\w+)\])$/.test(hostname);
}

/**
 * IPv6 addresses that reach an IPv4 address, as URLs write them: IPv4-compatible and mapped (RFC 4291, section 2.5.5),
 * translated (RFC 7915), NAT64 (RFC 6052), 6to4 (RFC 3056).
 */
const REACHES_IPV4 = /^\[(?:(?:::(?:ffff:(?:0:)?)?|64:ff9b::)(\w+):(\w+)|2002:(\w+):(\w*)(?::.*)?)\]$/;

/**
 * Names the node that a URL reaches, so that two URLs of one node have the same name. All names of this machine are one
 * host, on which ports distinguish nodes. On any other host, one operator runs all ports.
 */
export function nodeOf(url: string): string {
  const { hostname, port, protocol } = parseUrl(url);
  const host = ipv4In(hostname) ?? hostname.replace(/\.$/, "");
  // The unspecified address reaches this machine, too.
  if (!isLoopback(host) && host !== "0.0.0.0" && host !== "[::]") return host;
  return `localhost:${port || (protocol === "http:" ? 80 : 443)}`;
}

/** The IPv4 address that an IPv6 address reaches. */
function ipv4In(hostname: string): string | undefined {
  const [, a, b, high = a, low = b] = REACHES_IPV4.exec(hostname) ?? [];
  // The URL parser accepts an IPv4 address as one number.
  return high && new URL(`http://${parseInt(high, 16) * 2 ** 16 + parseInt(`0${low}`, 16)}`).hostname;
}
