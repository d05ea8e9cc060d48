import { integer, pgTable } from "./drizzle.ts";

/**
 * The number of migrations that a version of the service must have to use the database's tables. Every database has
 * this table, and the highest number applies. A migration inserts a row only if the migration removes or changes a
 * table or a column. After other migrations, older versions can still use the database.
 */
export const schemaRequirements = pgTable("schema_requirements", {
  migrations: integer("migrations").primaryKey(),
});
