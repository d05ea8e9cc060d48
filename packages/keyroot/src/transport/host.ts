/** Hosts as `new URL` normalizes them: lower case, IDNA, and addresses in one form (URL Standard, section 3.5). */

/**
 * Whether a host is this machine: its names and addresses (RFC 6761, section 6.3; RFC 1122, section 3.2.1.3; RFC 4291,
 * sections 2.5.3 and 2.5.5.2).
 * @param hostname as in `new URL(url).hostname`
 */
export function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(normalize(hostname));
}

/**
 * Names the node that a URL reaches, so that two URLs of one node have the same name. All names of this machine are one
 * host, on which ports distinguish nodes. On any other host they do not: one operator runs them all.
 */
export function nodeOf(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  const host = normalize(hostname);
  // The unspecified address reaches this machine, too.
  if (!isLoopback(host) && host !== "0.0.0.0" && host !== "[::]") return host;
  return `localhost:${port || (protocol === "http:" ? 80 : 443)}`;
}

/** Omits the dot of the DNS root, and writes an IPv4 address that is mapped to IPv6 (RFC 4291, section 2.5.5.2) as IPv4. */
function normalize(hostname: string): string {
  const [, high, low] = /^\[::ffff:(\w+):(\w+)\]$/.exec(hostname) ?? [];
  if (high === undefined || low === undefined) return hostname.replace(/\.$/, "");
  // The URL parser accepts an IPv4 address as one number.
  return new URL(`http://${parseInt(high, 16) * 2 ** 16 + parseInt(low, 16)}`).hostname;
}
