import { normalizeUrl, parseUrl, type UrlParts } from "../engine/parseUrl.ts";
import { ArgumentError } from "../errors.ts";
import { invalidArgument } from "../input/options.ts";

/**
 * Checks that a value is an http(s) URL, and returns it. The error contains only the host of the URL, because the rest
 * may contain a secret.
 * @param remedy the end of the error message for unencrypted http. If it is set, http requests to other machines are
 * rejected, because others in the network could read and change the data.
 * @throws ArgumentError ARGUMENT_INVALID, also for a URL with user and password, which fetch rejects
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
 * Adds words to the path of a URL, which may end with slashes. The query of the URL remains.
 * @param url a URL that `checkUrl` accepts
 * @param words a path that does not begin with a slash. It may include a query.
 */
export function addPath(url: string, words: string): string {
  const [path = "", query] = normalizeUrl(url).split(/\?(.*)/s);
  const own = query ? (words.includes("?") ? "&" : "?") + query : "";
  return `${path.replace(/\/+$/, "")}/${words}${own}`;
}

/**
 * Checks the URL of an endpoint or a file host.
 * @param allowHttp true to allow unencrypted http requests to other machines
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
 * Checks whether a host name or address means this machine (RFC 6761, section 6.3; RFC 1122, section 3.2.1.3; RFC 4291,
 * sections 2.5.3 and 2.5.5.2).
 * @param hostname a host in the form of `new URL(url).hostname`
 */
export function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost\.?|127\.\d+\.\d+\.\d+|\[::(?:1|ffff:7f..:\w+)\])$/.test(hostname);
}

/**
 * Matches IPv6 addresses that lead to an IPv4 address: IPv4-compatible and mapped (RFC 4291, section 2.5.5), translated
 * (RFC 7915), NAT64 (RFC 6052), 6to4 (RFC 3056).
 */
const REACHES_IPV4 = /^\[(?:(?:::(?:ffff:(?:0:)?)?|64:ff9b::)(\w+):(\w+)|2002:(\w+):(\w*)(?::.*)?)\]$/;

/**
 * Returns a name for the node that a URL leads to. Two URLs of the same node have the same name. On this machine, each
 * port is a different node. On other machines, all ports count as one node, because one operator controls them.
 */
export function nodeOf(url: string): string {
  const { hostname, port, protocol } = parseUrl(url);
  const host = ipv4In(hostname) ?? hostname.replace(/\.$/, "");
  // The unspecified address also means this machine.
  if (!isLoopback(host) && host !== "0.0.0.0" && host !== "[::]") return host;
  return `localhost:${port || (protocol === "http:" ? 80 : 443)}`;
}

/**
 * Rejects two endpoints of a quorum on one host, because one operator controls both.
 * @param endpoints URLs, or functions that send requests
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function checkDifferentHosts(endpoints: readonly unknown[]): void {
  const nodes = new Set(endpoints.map((rpc) => (typeof rpc === "string" ? nodeOf(rpc) : rpc)));
  if (nodes.size !== endpoints.length)
    throw invalidArgument("The option rpc", "endpoints on different hosts", endpoints);
}

/** Returns the IPv4 address that an IPv6 address leads to. */
function ipv4In(hostname: string): string | undefined {
  const [, a, b, high = a, low = b] = REACHES_IPV4.exec(hostname) ?? [];
  // The URL parser also accepts an IPv4 address that is written as a single number.
  return high && new URL(`http://${parseInt(high, 16) * 2 ** 16 + parseInt(`0${low}`, 16)}`).hostname;
}
