import type { PgDatabase, PgQueryResultHKT } from "./drizzle.ts";

/** A connection to PostgreSQL or PGlite. The tables and queries are the same for both. */
export type Database = PgDatabase<PgQueryResultHKT>;

/** A database with the function that creates or updates its tables. */
export interface OpenedDatabase {
  database: Database;
  migrate: () => Promise<void>;
}
