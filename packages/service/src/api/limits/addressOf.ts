import ipaddr from "ipaddr.js";
import { isIP } from "node:net";
import type { FastifyRequest } from "fastify";

/**
 * The number of leading bits by which IPv6 addresses are counted. Each customer has at least one /64 network (RFC
 * 6177), so longer prefixes would give one customer several counts.
 */
const IPV6_BITS = 64;

/**
 * Returns the address under which a request is counted: an IPv4 address, or the /64 network of an IPv6 address, because
 * one machine can use all addresses of its network. If a trusted proxy forwards an invalid IP address, the request
 * counts for the proxy's own address.
 */
export function addressOf({ ip, socket }: Pick<FastifyRequest, "ip" | "socket">): string {
  return normalize(ip) ?? normalize(socket.remoteAddress ?? "") ?? "unknown";
}

/** Returns the caller's full IP address for the audit log. Returns null if the address is unknown. */
export function ipOf({ ip, socket }: Pick<FastifyRequest, "ip" | "socket">): string | null {
  return (parse(ip) ?? parse(socket.remoteAddress ?? ""))?.toString() ?? null;
}

/** Parses an IP address. An IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2) becomes an IPv4 address. */
function parse(ip: string) {
  return isIP(ip) === 0 ? undefined : ipaddr.process(ip);
}

function normalize(ip: string): string | undefined {
  const address = parse(ip);
  if (address === undefined) return undefined;
  if (address.kind() === "ipv4") return address.toString();
  const network = address.toByteArray().fill(0, IPV6_BITS / 8);
  return `${ipaddr.fromByteArray(network).toString()}/${IPV6_BITS}`;
}
