import { DATABASE_NOW, isAnyOf } from "../api/database/columns.ts";
import { type Database, type Databases, regionalDatabases } from "../api/database/database.ts";
import { and, count, eq, inArray, isNull, sql, sum } from "../api/database/drizzle.ts";
import { isInOpenBatch, isOpenStatement, isPending, keyStatements, publicKeys, VOID } from "../keys/tables.ts";
import type { KeyCounts, PartnerKeys } from "../partners/partners.ts";
import { users } from "../users/tables.ts";
import { batchShares, publishedDays } from "./tables.ts";

/** Counts partners' keys, and restarts hold periods. */
export class PartnerKeyStore implements PartnerKeys {
  readonly #databases: Databases;
  readonly #holdPeriodMs: number;

  /** @param holdPeriodMs the hold period of keys */
  constructor(databases: Databases, holdPeriodMs: number) {
    this.#databases = databases;
    this.#holdPeriodMs = holdPeriodMs;
  }

  async restartHoldPeriods(transaction: Database, bizID: string): Promise<void> {
    const holdEndsAt = sql`${DATABASE_NOW} + ${this.#holdPeriodMs}::bigint`;
    await transaction
      .update(publicKeys)
      .set({ holdEndsAt })
      .where(and(eq(publicKeys.bizID, bizID), isPending));
    const ofPartner = transaction.select({ userID: users.userID }).from(users).where(eq(users.bizID, bizID));
    await transaction
      .update(keyStatements)
      .set({ holdEndsAt })
      .where(and(isOpenStatement, eq(keyStatements.keyID, VOID), inArray(keyStatements.userID, ofPartner)));
  }

  /** Counts the partners' public keys in all regions. For published keys, adds the counts of all days. */
  async count(bizIDs: readonly string[]): Promise<Map<string, KeyCounts>> {
    const counts = new Map<string, KeyCounts>();
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
