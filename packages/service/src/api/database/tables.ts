import { integer, pgTable } from "./drizzle.ts";

/**
 * The number of migrations that a version of the service must have to use the database. The table exists in every
 * database, and the highest number applies. A migration inserts a row only if it removes or changes a table or a
 * column. After any other, older versions can still use the database.
 */
export const schemaRequirements = pgTable("schema_requirements", {
  migrations: integer("migrations").primaryKey(),
});
