import { ArgumentError } from "../errors.ts";
import { invalidArgument } from "../input/options.ts";

/** Hosts as `new URL` normalizes them: lower case, IDNA, and addresses in one form (URL Standard, section 3.5). */

/**
 * Whether a host is this machine: its names and addresses (RFC 6761, section 6.3; RFC 1122, section 3.2.1.3; RFC 4291,
 * sections 2.5.3 and 2.5.5.2).
 * @param hostname as in `new URL(url).hostname`
 */
export function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost\.?|127\.\d+\.\d+\.\d+|\[::1\])$/.test(toIPv4(hostname));
}

/**
 * Names the node that a URL reaches, so that two URLs of one node have the same name. All names of this machine are one
 * host, on which ports distinguish nodes. On any other host they do not: one operator runs them all.
 */
export function nodeOf(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  // The unspecified address reaches this machine, too.
  if (!isLoopback(hostname) && hostname !== "0.0.0.0" && hostname !== "[::]")
    return toIPv4(hostname).replace(/\.$/, "");
  return `localhost:${port === "" ? protocol : port}`;
}

/** Writes an IPv4 address that is mapped to IPv6 (RFC 4291, section 2.5.5.2) in its own form. */
function toIPv4(hostname: string): string {
  const [, high, low] = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(hostname) ?? [];
  if (high === undefined || low === undefined) return hostname;
  const [a, b] = [parseInt(high, 16), parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join(".");
}

/**
 * Refuses plain http to other machines: anyone on the way could read and change what it transfers.
 * @throws ArgumentError ARGUMENT_INVALID
 */
export function checkPlainHttp(option: string, url: string): void {
  const { protocol, hostname } = new URL(url);
  if (protocol === "https:" || isLoopback(hostname)) return;
  const message = `The option ${option} must be an https URL. To allow http to ${hostname}, set allowHttp: true (--allow-http).`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
}

/** Refuses two endpoints on one host: that is one operator's word, not two. @throws ArgumentError ARGUMENT_INVALID */
export function checkNodes(endpoints: readonly unknown[]): void {
  const nodes = endpoints.map((rpc) => (typeof rpc === "string" ? nodeOf(rpc) : rpc));
  if (new Set(nodes).size !== nodes.length)
    throw invalidArgument("The option rpc", "endpoints on different hosts", endpoints);
}
