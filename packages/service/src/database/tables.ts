import { integer, pgTable, text, timestamp } from "drizzle-orm/pg-core";

/**
 * Every database: the number of migrations that a version of the service must include to run over these tables. The highest counts.
 * Only migrations that remove or change something insert a row: until then, older versions run over newer tables.
 */
export const schemaRequirements = pgTable("schema_requirements", {
  migrations: integer("migrations").primaryKey(),
});

/** Home database: requests of callers and addresses in the current minute, shared by all replicas. */
export const rateLimits = pgTable("rate_limits", {
  key: text("key").primaryKey(),
  points: integer("points").notNull(),
  expire: timestamp("expire", { withTimezone: true }),
});
