import { bigint, type PgColumn, type SQL, sql } from "./drizzle.ts";

/** A column for a time in milliseconds since 1970, as in the API. */
export const timestampMs = (name: string) => bigint(name, { mode: "number" });

/** The time of the database's clock, in milliseconds since 1970. */
export const DATABASE_NOW = sql<number>`(extract(epoch from statement_timestamp()) * 1000)::bigint`;

/** Passes one column of many rows as a single parameter, an array. SQL's `unnest` converts such arrays to rows. */
export function columnOf<Row>(
  type: "text" | "bigint" | "uuid",
  rows: readonly Row[],
  value: (row: Row) => unknown,
): SQL {
  return sql`${sql.param(rows.map(value))}::${sql.raw(type)}[]`;
}

/**
 * The condition that a text or UUID column has one of the values. All values are passed as a single array parameter,
 * because PostgreSQL accepts at most 65,535 parameters.
 */
export function isAnyOf(column: PgColumn, values: readonly string[]): SQL {
  return sql`${column} = any(${sql.param(values)}::${sql.raw(column.getSQLType())}[])`;
}
