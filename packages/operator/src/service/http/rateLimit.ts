import { lt, sql } from "drizzle-orm";
import type { FastifyReply, FastifyRequest } from "fastify";
import { RateLimiterDrizzle, RateLimiterRes } from "rate-limiter-flexible";
import { ServiceError } from "keyroot/errors";
import type { Database } from "../store/database.ts";
import { rateLimits } from "../store/tables.ts";
import type { Principal } from "../tokens/accessTokens.ts";
import { AddressLimit, type Quota, type ShareCount, WINDOW_SECONDS } from "./addressLimit.ts";
import { addressOf } from "./addressOf.ts";

/** The most addresses per minute whose counts a replica shares, each in a row. */
const MAX_SHARED_ADDRESSES = 1000;

/** How many requests per minute are accepted; 0 for no limit. */
export interface RateLimitOptions {
  /** Of one partner, one user, or the operator. */
  caller: number;
  /** Of one address, whoever sends them. */
  address: number;
  /** Of one address, and rejected before their caller was known: above it, the address is rejected without a check. */
  refused: number;
}

/** Whose requests are counted together. */
type Caller = Principal | "operator" | { kind: "person"; personID: string };

type Policy = keyof RateLimitOptions;

/** How messages call the requests of a policy. */
const WHAT: Record<Policy, string> = {
  caller: "requests",
  address: "requests from your address",
  refused: "rejected requests from your address",
};

/**
 * Limits requests by address, before anything else is done for them, and then by caller. Callers are counted in the home
 * database for all replicas together. A replica rejects a caller that is over the limit without a query until the minute ends.
 */
export class RateLimits {
  readonly #home: Database;
  readonly #address: AddressLimit | undefined;
  readonly #refused: AddressLimit | undefined;
  readonly #caller: RateLimiterDrizzle | undefined;
  /** The header RateLimit-Policy. */
  readonly #policies: string | undefined;

  constructor(home: Database, options: RateLimitOptions) {
    this.#home = home;
    const { caller, address, refused } = options;
    if (address > 0) this.#address = new AddressLimit(address, sharingIn(home, "address", address));
    if (refused > 0) this.#refused = new AddressLimit(refused, sharingIn(home, "refused", refused));
    if (caller > 0) this.#caller = limiterIn(home, "caller", caller);
    const policies = (["address", "refused", "caller"] as const).filter((policy) => options[policy] > 0);
    if (policies.length > 0)
      this.#policies = policies.map((policy) => `"${policy}";q=${options[policy]};w=${WINDOW_SECONDS}`).join(", ");
  }

  /**
   * Counts a request by its address. It sends no query.
   * @param isKnown whether the request's caller is known without a check: such requests are accepted even if others from the
   * same address were rejected too often
   * @throws ServiceError RATE_LIMITED
   */
  countAddress(request: FastifyRequest, reply: FastifyReply, isKnown: () => boolean): void {
    if (this.#policies === undefined) return;
    reply.header("RateLimit-Policy", this.#policies);
    const address = addressOf(request);
    if (this.#address !== undefined) enforce("address", this.#address.count(address), reply);
    const refused = this.#refused?.exceeded(address);
    if (refused !== undefined && !isKnown()) enforce("refused", refused, reply);
  }

  /** Counts a request that was rejected before its caller was known. */
  countRefused(request: FastifyRequest, reply: FastifyReply): void {
    const quota = this.#refused?.count(addressOf(request));
    if (quota !== undefined) addQuota("refused", quota, reply);
  }

  /**
   * Counts a request of a partner, a user, a person or the operator.
   * @throws ServiceError RATE_LIMITED
   */
  async countCaller(principal: Caller, reply: FastifyReply): Promise<void> {
    const limiter = this.#caller;
    if (limiter === undefined) return;
    const result = await limiter.consume(callerOf(principal)).catch((reason: unknown) => {
      // A rejected request is not an error for this library.
      if (reason instanceof RateLimiterRes) return reason;
      throw reason;
    });
    const { consumedPoints, remainingPoints, msBeforeNext } = result;
    const resetSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
    // A caller that is rejected without a query has no points consumed.
    const exceeded = consumedPoints === 0 || consumedPoints > limiter.points;
    const remaining = exceeded ? 0 : remainingPoints;
    enforce("caller", { limit: limiter.points, remaining, resetSeconds, exceeded }, reply);
  }

  /**
   * Counts the items of a list. The request itself was counted as the first of them. A list that does not fit is not counted,
   * so that requests and shorter lists are still accepted.
   * @throws ServiceError RATE_LIMITED; FIELD_INVALID for a list longer than the limit
   */
  async countList(principal: Caller, reply: FastifyReply, items: number): Promise<void> {
    const limiter = this.#caller;
    if (limiter === undefined) return;
    if (items > limiter.points) throw listTooLong(items, limiter.points);
    const further = items - 1;
    const caller = callerOf(principal);
    const before = await limiter.get(caller);
    const fits = (before?.consumedPoints ?? 0) + further <= limiter.points;
    const after = fits ? await limiter.penalty(caller, further) : before;
    // Another list may have been counted in between.
    const exceeded = !fits || (after?.consumedPoints ?? 0) > limiter.points;
    if (fits && exceeded) await limiter.reward(caller, further);
    const { remainingPoints = 0, msBeforeNext = WINDOW_SECONDS * 1000 } = (exceeded ? before : after) ?? {};
    const resetSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
    enforce("caller", { limit: limiter.points, remaining: remainingPoints, resetSeconds, exceeded }, reply);
  }

  /** Deletes counts of past minutes. */
  async dropExpired(): Promise<void> {
    await this.#home.delete(rateLimits).where(lt(rateLimits.expire, sql`clock_timestamp() - interval '1 minute'`));
  }
}

/** The name under which a principal's requests are counted. */
function callerOf(principal: Caller): string {
  if (principal === "operator") return principal;
  if (principal.kind === "person") return `person ${principal.personID}`;
  return principal.kind === "partner" ? `partner ${principal.bizID}` : `user ${principal.userID}`;
}

function limiterIn(home: Database, keyPrefix: string, points: number): RateLimiterDrizzle {
  return new RateLimiterDrizzle({
    storeClient: home,
    schema: rateLimits,
    keyPrefix,
    points,
    duration: WINDOW_SECONDS,
    inMemoryBlockOnConsumed: points + 1,
    // `dropExpired` deletes them earlier.
    clearExpiredByTimeout: false,
  });
}

/** Shares the counts of a bounded number of addresses through the home database. */
function sharingIn(home: Database, keyPrefix: string, points: number): ShareCount {
  const limiter = limiterIn(home, keyPrefix, points);
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
    const { consumedPoints, msBeforeNext } = await limiter.penalty(address, requests);
    return { total: consumedPoints, endsInMs: msBeforeNext };
  };
}

/** @throws ServiceError RATE_LIMITED */
function enforce(policy: Policy, quota: Quota, reply: FastifyReply): void {
  addQuota(policy, quota, reply);
  if (!quota.exceeded) return;
  const { limit, resetSeconds: retryAfter } = quota;
  const message = `More than ${limit} ${WHAT[policy]} in a minute: wait ${retryAfter} s.`;
  throw new ServiceError(429, "RATE_LIMITED", message, { retryAfter });
}

/** The error for a list that no minute has room for. */
function listTooLong(items: number, limit: number): ServiceError {
  const message = `Each item of a list counts as a request. The list has ${items} items, but the limit is ${limit} requests in a minute: send shorter lists.`;
  return new ServiceError(400, "FIELD_INVALID", message);
}

/** Adds one item to the header RateLimit (draft-ietf-httpapi-ratelimit-headers-10, section 4). */
function addQuota(policy: Policy, { remaining, resetSeconds }: Quota, reply: FastifyReply): void {
  const earlier = reply.getHeader("RateLimit");
  const name = `"${policy}"`;
  // A list of users is counted twice: as a request, and when its length is known.
  const others = typeof earlier === "string" ? earlier.split(", ").filter((item) => !item.startsWith(name)) : [];
  reply.header("RateLimit", [...others, `${name};r=${remaining};t=${resetSeconds}`].join(", "));
}
