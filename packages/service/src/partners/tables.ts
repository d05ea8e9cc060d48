import { integer, pgTable, text } from "drizzle-orm/pg-core";
import { requestColumns, timestampMs } from "../database/columns.ts";

/** Home database: partner companies. `user_limit` is the maximum number of the partner's users. */
export const partners = pgTable("partners", {
  bizID: text("biz_id").primaryKey(),
  name: text("name").notNull(),
  created: timestampMs("created").notNull(),
  ...requestColumns(),
  userLimit: integer("user_limit"),
});

/**
 * Every database: the suspended partners. Home and regions have a row each, so that a token is checked in the database that
 * stores it.
 */
export const suspensions = pgTable("suspensions", {
  bizID: text("biz_id").primaryKey(),
  since: timestampMs("since").notNull(),
});
