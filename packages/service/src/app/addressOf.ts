import ipaddr from "ipaddr.js";
import { isIP } from "node:net";
import type { FastifyRequest } from "fastify";

/** The minimum number of common bits in a customer's network (RFC 6177). All its addresses count as one. */
const IPV6_BITS = 64;

/**
 * The address under which a request is counted: an IPv4 address, or the /64 network of an IPv6 address, because one machine
 * can use all its addresses. If a trusted proxy forwards anything but an IP address, the proxy's own address counts.
 */
export function addressOf({ ip, socket }: Pick<FastifyRequest, "ip" | "socket">): string {
  return normalize(ip) ?? normalize(socket.remoteAddress ?? "") ?? "unknown";
}

/** The caller's whole address, for the audit log; null if it is unknown. */
export function ipOf({ ip, socket }: Pick<FastifyRequest, "ip" | "socket">): string | null {
  return (parse(ip) ?? parse(socket.remoteAddress ?? ""))?.toString() ?? null;
}

/** Parses an address. An IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2) becomes an IPv4 address. */
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
