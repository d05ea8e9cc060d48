import { promises as dns, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";

const DNS_TIMEOUT_MS = 3_000;
const DNS_TRIES = 2;
/** The network of public IPv6 addresses (RFC 4291, section 2.4). All other addresses are reserved. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");
/** The IPv6 network for documentation (RFC 9637). ipaddr.js does not list this network. */
const DOCUMENTATION = ipaddr.IPv6.parseCIDR("3fff::/20");
/**
 * The IPv6 network of NAT64, in which the last 32 bits of an address are the IPv4 address of a host (RFC 6052, section
 * 2.1). DNS64 returns such addresses.
 */
const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

export type ResolveHost = (hostname: string) => Promise<string[]>;

/** The error for an address to which webhooks must not be sent. */
export class AddressRefusedError extends Error {
  override readonly name = "AddressRefusedError";
}

/**
 * Returns whether an IP address is public. The following addresses are not:
 * - loopback, private, link-local, shared (carrier-grade NAT), multicast and reserved addresses;
 * - IPv6 addresses that contain an IPv4 address (mapped, 6to4, Teredo);
 * - addresses of 64:ff9b:1::/48 (RFC 8215), because each network chooses where they contain the IPv4 address.
 *
 * Networks with DNS64 use 64:ff9b::/96 to reach all IPv4 hosts. Such an address is as public as the IPv4 address in it.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.range() === "unicast";
  if (parsed.match(NAT64)) return new ipaddr.IPv4(parsed.toByteArray().slice(-4)).range() === "unicast";
  return parsed.range() === "unicast" && parsed.match(GLOBAL_UNICAST) && !parsed.match(DOCUMENTATION);
}

/**
 * Resolves a public host name with DNS. The system's resolver is not used, because it blocks threads of the process. A
 * name server that does not respond would then delay other work.
 * @param servers the addresses of name servers. Default: the system's name servers
 */
export async function resolvePublicHost(hostname: string, servers?: readonly string[]): Promise<string[]> {
  const resolver = new dns.Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  const results = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const found = results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
  const [failure] = results;
  if (found.length === 0 && failure.status === "rejected") throw failure.reason;
  return found;
}

/** Resolves a host name with the system's resolver, which also finds the names of this machine. */
export async function resolveAnyHost(hostname: string): Promise<string[]> {
  return (await dns.lookup(hostname, { all: true })).map(({ address }) => address);
}

/**
 * Creates a `lookup` function for connections. It resolves a host name, and returns its addresses only if all of them
 * are allowed. The connection uses one of the returned addresses, so a later change of the DNS name cannot redirect it.
 */
export function checkedLookup(resolve: ResolveHost, isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, { all }, callback) => {
    void resolveAllowed(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (all === true) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => {
        callback(error as Error, [], 0);
      },
    );
  };

  async function resolveAllowed(hostname: string): Promise<[LookupAddress, ...LookupAddress[]]> {
    const [first, ...rest] = (await resolve(hostname)).map((address) => ({ address, family: isIP(address) }));
    if (first === undefined) throw new Error("The host name has no address.");
    const refused = [first, ...rest].filter(({ address }) => !isAllowed(address));
    if (refused.length === 0) return [first, ...rest];
    throw new AddressRefusedError("The host name has an address that is not public.");
  }
}
