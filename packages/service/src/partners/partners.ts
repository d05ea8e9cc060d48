import { randomBytes } from "node:crypto";
import { and, asc, eq, or, type SQL, sql, sum } from "../api/database/drizzle.ts";
import { recordChange } from "../auditLog/recordChange.ts";
import type { Author } from "../api/base/author.ts";
import { allDatabases, type Database, type Databases } from "../api/database/database.ts";
import { checkSameRequest, type RepeatableRequest, requestValues } from "../api/database/idempotency.ts";
import { partners, suspensions, userCounts } from "./tables.ts";

export type Partner = Pick<typeof partners.$inferSelect, "bizID" | "name" | "created">;

/** A partner with the numbers of its users, tokens and keys. */
export interface PartnerSummary extends Partner {
  /** Start of the suspension. Null if the partner is not suspended. */
  suspended: number | null;
  /** Maximum number of users. Null if there is no limit. */
  userLimit: number | null;
  users: number;
  /** Number of registered public keys that are not on the chain. */
  pendingKeys: number;
  publishedKeys: number;
  /** Number of active refresh tokens of the partner's servers. */
  serverTokens: number;
}

/** The numbers of a partner's public keys that are not on the chain, and that are on it. */
export type KeyCounts = Pick<PartnerSummary, "pendingKeys" | "publishedKeys">;

/** What partners need of their users' keys. The subject `publishing` implements it. */
export interface PartnerKeys {
  /** Counts partners' keys in all regions. Partners without keys may be missing in the result. */
  count(bizIDs: readonly string[]): Promise<ReadonlyMap<string, KeyCounts>>;
  /** Restarts the hold periods of a partner's pending keys. @param transaction a transaction in a region */
  restartHoldPeriods(transaction: Database, bizID: string): Promise<void>;
}

/** Stores partners in the home database, and partners' suspensions in every database. */
export class PartnerStore {
  readonly #databases: Databases;
  readonly #home: Database;
  readonly #keys: PartnerKeys;

  constructor(databases: Databases, keys: PartnerKeys) {
    this.#databases = databases;
    this.#keys = keys;
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
   * Returns a partner, with the numbers of its users, tokens and keys.
   * @returns undefined if there is no such partner
   */
  async get(bizID: string): Promise<PartnerSummary | undefined> {
    return (await this.#summarize(eq(partners.bizID, bizID), 1))[0];
  }

  /**
   * Lists one page of partners in the order of creation.
   * @param options.search a part of the name in upper or lower case, or the beginning of the biz_id
   * @param options.after the last biz_id of the previous page; undefined for the first page
   * @returns undefined if no partner has the id `after`. `next` is null if no page follows
   */
  async list({
    search,
    after,
    limit,
  }: {
    search?: string | undefined;
    after?: string | undefined;
    limit: number;
  }): Promise<{ partners: PartnerSummary[]; next: string | null } | undefined> {
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
   * Suspends a partner. All replicas then reject the tokens of the partner and of its users. Repeating the call has no
   * effect.
   *
   * The home database is changed first. If a regional database is unreachable, the call fails, although lists already
   * show the partner as suspended.
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
   * Ends a suspension. The hold periods of the partner's pending keys start again. The home database is changed last.
   * Therefore lists show the partner as suspended until all databases accept its tokens.
   */
  async resume(bizID: string, now: number, author: Author): Promise<void> {
    for (const database of allDatabases(this.#databases).reverse())
      await database.transaction(async (transaction) => {
        const deleted = await transaction.delete(suspensions).where(eq(suspensions.bizID, bizID)).returning();
        if (deleted.length > 0) await this.#keys.restartHoldPeriods(transaction, bizID);
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
    const keys = await this.#keys.count(page.map((partner) => partner.bizID));
    return page.map((partner) => ({
      ...partner,
      ...(keys.get(partner.bizID) ?? { pendingKeys: 0, publishedKeys: 0 }),
    }));
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
