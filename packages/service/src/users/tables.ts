import { bigint, index, integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import type { Region } from "keyroot/identity";
import { timestampMs } from "../database/columns.ts";

/** Home database: the partner that owns a user id, and the region of the user's data. */
export const userIDs = pgTable(
  "user_ids",
  {
    userID: text("user_id").primaryKey(),
    bizID: text("biz_id").notNull(),
    region: text("region").$type<Region>().notNull(),
  },
  (table) => [index("user_ids_of_partner").on(table.bizID, table.userID)],
);

/**
 * Home database: the number of each partner's rows in `user_ids`. Several rows per partner, so that concurrent inserts rarely
 * wait for each other. A trigger of `user_ids` maintains it in the transaction of the insert.
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

/**
 * User's region: shadow users. The tokens of a deactivated user are refused. An erased user is deactivated, too, and its row
 * only keeps the id from being used again.
 */
export const users = pgTable("users", {
  userID: text("user_id").primaryKey(),
  bizID: text("biz_id").notNull(),
  region: text("region").$type<Region>().notNull(),
  bucket: text("bucket").notNull().unique(),
  salt: text("salt").notNull(),
  created: timestampMs("created").notNull(),
  deactivated: timestampMs("deactivated"),
  erased: timestampMs("erased"),
});
