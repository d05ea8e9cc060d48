import { integer, pgTable } from "./drizzle.ts";

/**
 * In every database: the number of migrations that a version of the service must have to use these tables. The highest
 * row counts. Only migrations that remove or change something insert a row, so older versions can use newer tables
 * until then.
 */
export const schemaRequirements = pgTable("schema_requirements", {
  migrations: integer("migrations").primaryKey(),
});
