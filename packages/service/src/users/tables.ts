import { bigint, index, integer, pgTable, primaryKey, text } from "../database/drizzle.ts";
import type { Region } from "keyroot/internal/identity";
import { timestampMs } from "../database/columns.ts";

/** The partner that owns each user id, and the region of the user's data. This table is in the home database. */
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
 * The number of each partner's user ids, in the home database. Each partner has several rows in this table, so that
 * concurrent inserts rarely wait for each other. When an id is inserted, a trigger of `user_ids` updates one row in the
 * same transaction.
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
 * Shadow users, in the users' regions. The service rejects the tokens of a deactivated user. An erased user is also
 * deactivated. An erased user's row remains only to prevent reuse of the id.
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
