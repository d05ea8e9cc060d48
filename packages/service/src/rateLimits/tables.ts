import { integer, pgTable, text, timestamp } from "../database/drizzle.ts";

/** In the home database: the requests of callers and addresses in the current minute, shared by all replicas. */
export const rateLimits = pgTable("rate_limits", {
  key: text("key").primaryKey(),
  points: integer("points").notNull(),
  expire: timestamp("expire", { withTimezone: true }),
});
