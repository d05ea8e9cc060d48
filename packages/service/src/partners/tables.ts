import { eq, integer, pgTable, text } from "../database/drizzle.ts";
import type { Database } from "../database/database.ts";
import { timestampMs } from "../database/columns.ts";
import { requestColumns } from "../database/idempotency.ts";

/** In the home database: partner companies. `user_limit` is the maximum number of a partner's users. */
export const partners = pgTable("partners", {
  bizID: text("biz_id").primaryKey(),
  name: text("name").notNull(),
  created: timestampMs("created").notNull(),
  ...requestColumns(),
  userLimit: integer("user_limit"),
});

/**
 * In every database: the suspended partners. The home database and each region have a row for a suspended partner.
 * A token is checked in the database that stores it.
 */
export const suspensions = pgTable("suspensions", {
  bizID: text("biz_id").primaryKey(),
  since: timestampMs("since").notNull(),
});

/** Locks a partner until the transaction ends, so that concurrent changes with limits run one after the other. */
export async function lockPartner(transaction: Database, bizID: string): Promise<void> {
  const owner = transaction.select({ bizID: partners.bizID }).from(partners).where(eq(partners.bizID, bizID));
  await owner.for("no key update");
}
