import { integer, pgTable, text, timestamp } from "../database/drizzle.ts";

/** The number of requests of callers and addresses in the current minute, in the home database for all replicas. */
export const rateLimits = pgTable("rate_limits", {
  key: text("key").primaryKey(),
  points: integer("points").notNull(),
  expire: timestamp("expire", { withTimezone: true }),
});
