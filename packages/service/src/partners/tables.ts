import { bigint, eq, integer, pgTable, primaryKey, text } from "../api/database/drizzle.ts";
import type { Database } from "../api/database/database.ts";
import { timestampMs } from "../api/database/columns.ts";
import { requestColumns } from "../api/database/idempotency.ts";

/** Partner companies, in the home database. `user_limit` is the maximum number of a partner's users. */
export const partners = pgTable("partners", {
  bizID: text("biz_id").primaryKey(),
  name: text("name").notNull(),
  created: timestampMs("created").notNull(),
  ...requestColumns(),
  userLimit: integer("user_limit"),
});

/**
 * Suspended partners. Every database has a row for each of them, because the service checks a token only in the
 * database that contains the token.
 */
export const suspensions = pgTable("suspensions", {
  bizID: text("biz_id").primaryKey(),
  since: timestampMs("since").notNull(),
});

/**
 * The number of each partner's user ids, in the home database. Each partner has several rows, so that concurrent
 * inserts rarely wait for each other. The transaction that inserts a user id also updates one of these rows, by a
 * trigger of `user_ids`.
 */
export const userCounts = pgTable(
  "user_counts",
  {
    bizID: text("biz_id").notNull(),
    shard: integer("shard").notNull(),
    users: bigint("users", { mode: "number" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.bizID, table.shard] })],
);

/** Locks a partner until the transaction ends, so that concurrent changes with limits run one after the other. */
export async function lockPartner(transaction: Database, bizID: string): Promise<void> {
  const owner = transaction.select({ bizID: partners.bizID }).from(partners).where(eq(partners.bizID, bizID));
  await owner.for("no key update");
}
