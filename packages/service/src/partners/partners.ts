import { randomBytes } from "node:crypto";
import { and, asc, count, eq, isNull, or, type SQL, sql, sum } from "../api/database/drizzle.ts";
import { type Author, recordChange } from "../auditLog/recordChange.ts";
import { allDatabases, type Database, type Databases, regionalDatabases } from "../api/database/database.ts";
import { checkSameRequest, type RepeatableRequest, requestValues } from "../api/database/idempotency.ts";
import { DATABASE_NOW, isAnyOf } from "../api/database/columns.ts";
import { batchShares, publishedDays, isInOpenBatch } from "../publishing/tables.ts";
import { partners, suspensions } from "./tables.ts";
import { isPending, publicKeys } from "../keys/tables.ts";
import { userCounts } from "../users/tables.ts";

export interface Partner {
  bizID: string;
  name: string;
  /** Creation time in milliseconds since 1970. */
  created: number;
}

/** A partner with the counts of the partner's users, tokens and keys. */
export interface PartnerSummary extends Partner {
  /** Start of the suspension in milliseconds since 1970. Null if the partner is not suspended. */
  suspended: number | null;
  /** Maximum number of users. Null for no limit. */
  userLimit: number | null;
  users: number;
  /** Number of registered public keys that are not on the chain. */
  pendingKeys: number;
  publishedKeys: number;
  /** Number of active refresh tokens of the partner's servers. */
  serverTokens: number;
}

/** Filter and page of a list of partners. */
export interface ListPartnersOptions {
  /** A part of the name in upper or lower case, or the beginning of the biz_id. Undefined for all partners. */
  search?: string | undefined;
  /** The last biz_id of the previous page. Undefined for the first page. */
  after?: string | undefined;
  limit: number;
}

/** Stores partners in the home database, and partners' suspensions in every database. */
export class PartnerStore {
  readonly #databases: Databases;
  readonly #home: Database;
  readonly #holdPeriodMs: number;

  /** @param holdPeriodMs the hold period of keys. The hold period restarts when a suspension ends */
  constructor(databases: Databases, holdPeriodMs: number) {
    this.#databases = databases;
    this.#holdPeriodMs = holdPeriodMs;
    this.#home = databases.home;
  }

  /**
   * Creates a partner, or returns the partner that an earlier request with the same Idempotency-Key created.
   * @throws ServiceError IDEMPOTENCY_KEY_REUSED
   */
  async create(name: string, created: number, author: Author, repeatable?: RepeatableRequest): Promise<Partner> {
    const partner = { bizID: `biz_${randomBytes(16).toString("base64url")}`, name, created };
    const request = requestValues("operator", repeatable);
    const isNew = await this.#home.transaction(async (transaction) => {
      const values = { ...partner, ...request };
      const inserted = await transaction.insert(partners).values(values).onConflictDoNothing().returning();
      if (inserted.length === 0) return false;
      const { bizID } = partner;
      await recordChange(transaction, author, {
        action: "partner.created",
        at: created,
        partner: bizID,
        data: { name },
      });
      return true;
    });
    if (isNew) return partner;
    const [earlier] = await this.#home
      .select()
      .from(partners)
      .where(eq(partners.requestHash, request.requestHash ?? ""));
    if (earlier === undefined) throw new Error("Two ids of 128 random bits are equal.");
    checkSameRequest(earlier, request);
    return { bizID: earlier.bizID, name, created: earlier.created };
  }

  /** @returns undefined if there is no such partner */
  async find(bizID: string): Promise<Partner | undefined> {
    const [found] = await this.#home.select().from(partners).where(eq(partners.bizID, bizID));
    return found;
  }

  async exists(bizID: string): Promise<boolean> {
    return (await this.find(bizID)) !== undefined;
  }

  async isSuspended(bizID: string): Promise<boolean> {
    return (await this.#home.select().from(suspensions).where(eq(suspensions.bizID, bizID))).length > 0;
  }

  /**
   * Returns a partner with the counts of the partner's users, tokens and keys.
   * @returns undefined if there is no such partner
   */
  async get(bizID: string): Promise<PartnerSummary | undefined> {
    return (await this.#summarize(eq(partners.bizID, bizID), 1))[0];
  }

  /**
   * Lists one page of partners in the order of creation.
   * @returns `next` is null if no page follows. The result is undefined if no partner has the id `after`
   */
  async list({
    search,
    after,
    limit,
  }: ListPartnersOptions): Promise<{ partners: PartnerSummary[]; next: string | null } | undefined> {
    const { bizID, name, created } = partners;
    const conditions: (SQL | undefined)[] = [];
    if (search !== undefined)
      conditions.push(or(sql`position(lower(${search}) in lower(${name})) > 0`, sql`starts_with(${bizID}, ${search})`));
    if (after !== undefined) {
      const [last] = await this.#home.select().from(partners).where(eq(bizID, after));
      if (last === undefined) return undefined;
      conditions.push(sql`(${created}, ${bizID}) > (${last.created}, ${after})`);
    }
    const page = await this.#summarize(and(...conditions), limit);
    return { partners: page, next: page.length === limit ? (page.at(-1)?.bizID ?? null) : null };
  }

  /** Limits the number of a partner's users. @param userLimit the maximum number of users. Null for no limit */
  async setUserLimit(bizID: string, userLimit: number | null, now: number, author: Author): Promise<void> {
    await this.#home.transaction(async (transaction) => {
      const isOther = sql`${partners.userLimit} is distinct from ${userLimit}::integer`;
      const which = and(eq(partners.bizID, bizID), isOther);
      const changed = await transaction.update(partners).set({ userLimit }).where(which).returning();
      const change = { action: "partner.limited", at: now, partner: bizID, data: { user_limit: userLimit } } as const;
      if (changed.length > 0) await recordChange(transaction, author, change);
    });
  }

  /**
   * Suspends a partner. All replicas then reject all tokens of the partner and of the partner's users. Repeating the
   * call has no effect. The home database is changed first. If a regional database is unreachable, the call fails, but
   * lists show the partner as suspended.
   */
  async suspend(bizID: string, since: number, author: Author): Promise<void> {
    for (const database of allDatabases(this.#databases))
      await database.transaction(async (transaction) => {
        const row = { bizID, since };
        const inserted = await transaction.insert(suspensions).values(row).onConflictDoNothing().returning();
        if (database === this.#home && inserted.length > 0)
          await recordChange(transaction, author, { action: "partner.suspended", at: since, partner: bizID });
      });
  }

  /**
   * Ends a suspension. The hold periods of the partner's pending keys restart. The home database is changed last, so
   * lists show the partner as suspended until all databases accept the partner's tokens.
   */
  async resume(bizID: string, now: number, author: Author): Promise<void> {
    for (const database of allDatabases(this.#databases).reverse())
      await database.transaction(async (transaction) => {
        const deleted = await transaction.delete(suspensions).where(eq(suspensions.bizID, bizID)).returning();
        if (deleted.length > 0) {
          const holdEndsAt = sql`${DATABASE_NOW} + ${this.#holdPeriodMs}::bigint`;
          await transaction
            .update(publicKeys)
            .set({ holdEndsAt })
            .where(and(eq(publicKeys.bizID, bizID), isPending));
        }
        if (database === this.#home && deleted.length > 0)
          await recordChange(transaction, author, { action: "partner.resumed", at: now, partner: bizID });
      });
  }

  async #summarize(condition: SQL | undefined, limit: number): Promise<PartnerSummary[]> {
    const { bizID, name, created, userLimit } = partners;
    // The subqueries are SQL text, because drizzle omits table names in queries of one table.
    const userSum = sql`(select coalesce(sum(users), 0) from user_counts where user_counts.biz_id = partners.biz_id)`;
    const tokenCount = sql`(select count(*) from server_tokens where server_tokens.biz_id = partners.biz_id and revoked is null)`;
    const page = await this.#home
      .select({
        ...{ bizID, name, created, userLimit },
        suspended: suspensions.since,
        users: userSum.mapWith(Number),
        serverTokens: tokenCount.mapWith(Number),
      })
      .from(partners)
      .leftJoin(suspensions, eq(suspensions.bizID, bizID))
      .where(condition)
      .orderBy(asc(created), asc(bizID))
      .limit(limit);
    const keys = await this.#countKeys(page.map((partner) => partner.bizID));
    return page.map((partner) => ({
      ...partner,
      ...(keys.get(partner.bizID) ?? { pendingKeys: 0, publishedKeys: 0 }),
    }));
  }

  /** Counts the partners' public keys in all regions. For published keys, adds the counts of all days. */
  async #countKeys(bizIDs: readonly string[]): Promise<Map<string, { pendingKeys: number; publishedKeys: number }>> {
    const counts = new Map<string, { pendingKeys: number; publishedKeys: number }>();
    if (bizIDs.length === 0) return counts;
    const add = (bizID: string, pending: number, published: number) => {
      const { pendingKeys = 0, publishedKeys = 0 } = counts.get(bizID) ?? {};
      counts.set(bizID, { pendingKeys: pendingKeys + pending, publishedKeys: publishedKeys + published });
    };
    for (const database of regionalDatabases(this.#databases)) {
      const onChain = await database
        .select({ bizID: publishedDays.bizID, keys: sum(publishedDays.users).mapWith(Number) })
        .from(publishedDays)
        .where(isAnyOf(publishedDays.bizID, bizIDs))
        .groupBy(publishedDays.bizID);
      for (const { bizID, keys } of onChain) add(bizID, 0, keys);
      const inOpenBatches = await database
        .select({ bizID: batchShares.bizID, keys: sum(batchShares.users).mapWith(Number) })
        .from(batchShares)
        .where(and(isInOpenBatch(batchShares.root), isAnyOf(batchShares.bizID, bizIDs)))
        .groupBy(batchShares.bizID);
      for (const { bizID, keys } of inOpenBatches) add(bizID, keys, 0);
      const inNone = await database
        .select({ bizID: publicKeys.bizID, keys: count() })
        .from(publicKeys)
        .where(and(isNull(publicKeys.root), isAnyOf(publicKeys.bizID, bizIDs)))
        .groupBy(publicKeys.bizID);
      for (const { bizID, keys } of inNone) add(bizID, keys, 0);
    }
    return counts;
  }
}

/** Counts a partner's users, including erased users. */
export async function countUsers(home: Database, bizID: string): Promise<number> {
  const [found] = await home
    .select({ users: sum(userCounts.users).mapWith(Number) })
    .from(userCounts)
    .where(eq(userCounts.bizID, bizID));
  return found?.users ?? 0;
}
