import { bigint, index, integer, pgTable, primaryKey, text } from "../database/drizzle.ts";
import type { Region } from "keyroot/identity";
import { timestampMs } from "../database/columns.ts";

/** In the home database: the partner that owns each user id, and the region of the user's data. */
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
 * In the home database: the number of each partner's rows in `user_ids`. Each partner has several rows, so that
 * concurrent inserts rarely wait for each other. A trigger of `user_ids` updates them in the transaction of the insert.
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
 * In the user's region: shadow users. Tokens of a deactivated user are rejected. An erased user is also deactivated. Its
 * row remains only to prevent reuse of the id.
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
