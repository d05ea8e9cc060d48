import type { FastifyReply, FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import { ServiceError } from "../base/errors.ts";
import type { Database } from "../database/database.ts";
import { MinuteLimit, type Quota, quotaOf, refuseExceeded, type ShareCount } from "./minuteLimit.ts";
import { RequestCounts, WINDOW_SECONDS } from "./requestCounts.ts";
import type { Principal } from "../base/principals.ts";
import { addressOf } from "./addressOf.ts";

/** Maximum number of addresses per minute for which a replica stores counts in the database. */
const MAX_SHARED_ADDRESSES = 1000;
/** Maximum number of callers over the limit that a replica keeps in memory. */
const MAX_EXCEEDED = 10_000;

/** Maximum requests per minute. 0 means no limit. */
export interface RateLimitOptions {
  /** Limit for each caller: a partner, a user or the operator. */
  caller: number;
  /** Limit for each IP address. All callers at the address share this limit. */
  address: number;
  /**
   * The limit for rejected requests of unknown callers at each IP address. Above it, callers get RATE_LIMITED instead
   * of the reason for the rejection. Others may share the address, so requests with a valid token and requests for
   * public documents are still accepted.
   */
  refused: number;
}

/** A caller with one common count for all requests. */
type Caller = Principal | "operator" | { kind: "person"; personID: string };

type Policy = keyof RateLimitOptions;

/** The words for the counted requests in error messages. */
const WHAT: Record<Policy, string> = {
  caller: "requests",
  address: "requests from your address",
  refused: "rejected requests from your address",
};

/**
 * Limits requests by address before any other work, and then by caller. The home database counts each caller's requests
 * for all replicas. When a caller is over the limit, a replica rejects the caller's requests until the minute ends, and
 * needs no further query for this.
 */
export class RateLimits {
  readonly #counts: RequestCounts;
  readonly #address: MinuteLimit | undefined;
  readonly #refused: MinuteLimit | undefined;
  /** Maximum requests per minute and caller. 0 means no limit. */
  readonly #caller: number;
  /**
   * Callers over the limit. Each value is the end of the minute in which the caller's requests are counted, in ms of
   * `performance.now()`.
   */
  readonly #exceeded = new LRUCache<string, number>({ max: MAX_EXCEEDED });
  readonly #policies: string | undefined;

  constructor(home: Database, options: RateLimitOptions) {
    const counts = new RequestCounts(home);
    this.#counts = counts;
    const { caller, address, refused } = options;
    if (address > 0) this.#address = new MinuteLimit(address, sharingIn(counts, "address"));
    if (refused > 0) this.#refused = new MinuteLimit(refused, sharingIn(counts, "refused"));
    this.#caller = caller;
    const policies = (["address", "refused", "caller"] as const).filter((policy) => options[policy] > 0);
    if (policies.length > 0)
      this.#policies = policies.map((policy) => `"${policy}";q=${options[policy]};w=${WINDOW_SECONDS}`).join(", ");
  }

  /**
   * Counts a request for the client's address. Sends no query.
   * @throws ServiceError RATE_LIMITED
   */
  countAddress(request: FastifyRequest, reply: FastifyReply): void {
    if (this.#policies === undefined) return;
    reply.header("RateLimit-Policy", this.#policies);
    if (this.#address !== undefined) enforce("address", this.#address.count(addressOf(request)), reply);
  }

  /** Counts a rejected request of an unknown caller. @throws ServiceError RATE_LIMITED */
  countRefused(request: FastifyRequest, reply: FastifyReply): void {
    const quota = this.#refused?.count(addressOf(request));
    if (quota !== undefined) enforce("refused", quota, reply);
  }

  /**
   * Rejects a request without checking it if too many requests from its address were rejected. Use this method where a
   * caller could guess a secret that people chose.
   * @throws ServiceError RATE_LIMITED
   */
  requireFewRefused(request: FastifyRequest, reply: FastifyReply): void {
    const quota = this.#refused?.exceeded(addressOf(request));
    if (quota !== undefined) enforce("refused", quota, reply);
  }

  /**
   * Counts a connection that sent no HTTP request as both a request and a rejected request.
   * @returns whether the address is over a limit
   */
  countMalformed(address: string): boolean {
    const quotas = [this.#address?.count(address), this.#refused?.count(address)];
    return quotas.some((quota) => quota?.exceeded === true);
  }

  /**
   * Counts a request of a partner, a user, a person or the operator.
   * @throws ServiceError RATE_LIMITED
   */
  async countCaller(principal: Caller, reply: FastifyReply): Promise<void> {
    if (this.#caller === 0) return;
    const name = nameOf(principal);
    const endsInMs = (this.#exceeded.get(name) ?? 0) - performance.now();
    const count = endsInMs > 0 ? { requests: this.#caller + 1, endsInMs } : await this.#counts.add(name, 1);
    if (count.requests > this.#caller) this.#exceeded.set(name, performance.now() + count.endsInMs);
    enforce("caller", quotaOf(this.#caller, count), reply);
  }

  /**
   * Counts the items of a list as requests. The first item is not counted again, because the request itself was
   * counted. A list that would exceed the limit is not counted, so that single requests and shorter lists are still
   * accepted.
   * @throws ServiceError RATE_LIMITED; FIELD_INVALID for a list longer than the limit
   */
  async countList(principal: Caller, reply: FastifyReply, items: number): Promise<void> {
    const limit = this.#caller;
    if (limit === 0) return;
    if (items > limit) {
      const message = `The list has ${items} items. Each counts as a request, and the limit is ${limit} requests in a minute. Send shorter lists.`;
      throw new ServiceError(400, "FIELD_INVALID", message);
    }
    const further = items - 1;
    const name = nameOf(principal);
    const before = await this.#counts.get(name);
    const fits = before.requests + further <= limit;
    const after = fits ? await this.#counts.add(name, further) : before;
    // A concurrent request may have counted another list after `before` was read.
    if (fits && after.requests > limit) await this.#counts.takeBack(name, further);
    enforce("caller", { ...quotaOf(limit, after), exceeded: !fits || after.requests > limit }, reply);
  }

  dropExpired(): Promise<void> {
    return this.#counts.dropExpired();
  }
}

/** Returns the name under which a caller's requests are counted. */
function nameOf(caller: Caller): string {
  if (caller === "operator") return "caller:operator";
  if (caller.kind === "person") return `caller:person ${caller.personID}`;
  return caller.kind === "partner" ? `caller:partner ${caller.bizID}` : `caller:user ${caller.userID}`;
}

/** Shares the counts of a limited number of addresses through the home database. */
function sharingIn(counts: RequestCounts, policy: Policy): ShareCount {
  const shared = new Set<string>();
  let ends = 0;
  return async (address, requests) => {
    const now = performance.now();
    if (now >= ends) {
      shared.clear();
      ends = now + WINDOW_SECONDS * 1000;
    }
    if (!shared.has(address) && shared.size >= MAX_SHARED_ADDRESSES) return undefined;
    shared.add(address);
    return counts.add(`${policy}:${address}`, requests);
  };
}

/**
 * Adds a limit's quota to the header RateLimit (draft-ietf-httpapi-ratelimit-headers-10, section 4).
 * @throws ServiceError RATE_LIMITED if the request exceeds the limit
 */
function enforce(policy: Policy, quota: Quota, reply: FastifyReply): void {
  const { remaining, resetSeconds } = quota;
  const earlier = reply.getHeader("RateLimit");
  const name = `"${policy}"`;
  // A request with a list is counted twice: as one request, and then by its items. The later quota replaces the first.
  const others = typeof earlier === "string" ? earlier.split(", ").filter((item) => !item.startsWith(name)) : [];
  reply.header("RateLimit", [...others, `${name};r=${remaining};t=${resetSeconds}`].join(", "));
  refuseExceeded(quota, WHAT[policy]);
}
