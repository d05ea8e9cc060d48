import { index, isNull, pgTable, text } from "../api/database/drizzle.ts";
import type { Region } from "keyroot/internal/identity";
import { timestampMs } from "../api/database/columns.ts";

/**
 * The partner that owns each user id, and the region that contains the user's data. The table is in the home database.
 */
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
 * Shadow users, in the users' regions. A deactivated user's tokens are rejected. An erased user is also deactivated,
 * and the row is kept only so that the id cannot be used again.
 */
export const users = pgTable(
  "users",
  {
    userID: text("user_id").primaryKey(),
    bizID: text("biz_id").notNull(),
    region: text("region").$type<Region>().notNull(),
    bucket: text("bucket").notNull().unique(),
    salt: text("salt").notNull(),
    created: timestampMs("created").notNull(),
    deactivated: timestampMs("deactivated"),
    erased: timestampMs("erased"),
  },
  (table) => [index("users_by_time").on(table.bizID, table.created, table.userID).where(isNull(table.erased))],
);
