import { parseUrl } from "../engine/parseUrl.ts";
import { invalidArgument } from "../input/options.ts";
import { isLoopback } from "./url.ts";

/**
 * Matches IPv6 addresses that lead to an IPv4 address. These are IPv4-compatible and IPv4-mapped (RFC 4291, section
 * 2.5.5), IPv4-translated (RFC 7915), NAT64 (RFC 6052) and 6to4 (RFC 3056) addresses.
 */
const REACHES_IPV4 = /^\[(?:(?:::(?:ffff:(?:0:)?)?|64:ff9b::)(\w+):(\w+)|2002:(\w+):(\w*)(?::.*)?)\]$/;

/**
 * Rejects endpoints of a quorum that are on the same host, because one operator would then have several votes.
 * @param endpoints URLs, or functions that send requests
 */
export function checkDifferentHosts(endpoints: readonly unknown[]): void {
  const nodes = new Set(endpoints.map((rpc) => (typeof rpc === "string" ? nodeOf(rpc) : rpc)));
  if (nodes.size !== endpoints.length)
    throw invalidArgument("The rpc option", "endpoints on different hosts", endpoints);
}

/**
 * Returns the name of the node that a URL leads to. Two URLs of the same node result in the same name. On this machine,
 * each port is a node of its own. On any other machine, all ports together are one node, because one operator controls
 * them.
 */
export function nodeOf(url: string): string {
  const { hostname, port, protocol } = parseUrl(url);
  const host = ipv4In(hostname) ?? hostname.replace(/\.$/, "");
  // The unspecified address also means this machine.
  if (!isLoopback(host) && host !== "0.0.0.0" && host !== "[::]") return host;
  return `localhost:${port || (protocol === "http:" ? 80 : 443)}`;
}

/** Returns the IPv4 address that an IPv6 address leads to. */
function ipv4In(hostname: string): string | undefined {
  const [, a, b, high = a, low = b] = REACHES_IPV4.exec(hostname) ?? [];
  // The URL parser converts a single number to an IPv4 address.
  return high && new URL(`http://${parseInt(high, 16) * 2 ** 16 + parseInt(`0${low}`, 16)}`).hostname;
}
