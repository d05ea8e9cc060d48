import { integer, pgTable, text, timestamp } from "drizzle-orm/pg-core";

/**
 * In every database: the number of migrations that a version of the service must have to use these tables. The highest
 * row counts. Only migrations that remove or change something insert a row, so older versions can use newer tables
 * until then.
 */
export const schemaRequirements = pgTable("schema_requirements", {
  migrations: integer("migrations").primaryKey(),
});

/** In the home database: the requests of callers and addresses in the current minute, shared by all replicas. */
export const rateLimits = pgTable("rate_limits", {
  key: text("key").primaryKey(),
  points: integer("points").notNull(),
  expire: timestamp("expire", { withTimezone: true }),
});
