import { integer, pgTable } from "./drizzle.ts";

/**
 * The number of migrations that a version of the service must have to use the database. The table is in every database,
 * and its highest number applies. A migration inserts a row only if it removes or changes a table or a column. After
 * other migrations, older versions can still use the database.
 */
export const schemaRequirements = pgTable("schema_requirements", {
  migrations: integer("migrations").primaryKey(),
});
