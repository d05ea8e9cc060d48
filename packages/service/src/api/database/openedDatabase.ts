import type { PgDatabase, PgQueryResultHKT } from "./drizzle.ts";

/** A connection to PostgreSQL or PGlite. The tables and queries are the same for both. */
export type Database = PgDatabase<PgQueryResultHKT>;

/** A database with the function that creates or updates its tables. */
export interface OpenedDatabase {
  database: Database;
  migrate: () => Promise<void>;
}

/**
 * Returns the rows of a plain query's result. Both drivers return rows, but drizzle's common type does not declare
 * them.
 */
export function rowsOf(result: unknown): Record<string, unknown>[] {
  return (result as { rows: Record<string, unknown>[] }).rows;
}
