import { integer, pgTable } from "./drizzle.ts";

/**
 * The number of migrations that a version of the service must have to use these tables. The table is in every database,
 * and its highest row applies. Only a migration that removes or changes something inserts a row. Before such a
 * migration, older versions can use newer tables.
 */
export const schemaRequirements = pgTable("schema_requirements", {
  migrations: integer("migrations").primaryKey(),
});
