import { integer, pgTable, text, timestamp } from "drizzle-orm/pg-core";

/**
 * Every database: the minimum number of migrations in a version of the service that runs over these tables. The highest row
 * counts. Only migrations that remove or change something insert a row: until then, older versions run over newer tables.
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
