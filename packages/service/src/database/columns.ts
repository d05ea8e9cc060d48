import { type SQL, sql } from "drizzle-orm";
import { bigint, type PgColumn, text } from "drizzle-orm/pg-core";

/** A column of milliseconds since 1970, as in the API. */
export const timestampMs = (name: string) => bigint(name, { mode: "number" });

/** The database's clock, in milliseconds since 1970. */
export const DATABASE_NOW = sql<number>`(extract(epoch from statement_timestamp()) * 1000)::bigint`;

/**
 * The columns of rows that a request with an Idempotency-Key created, null for others. `request_hash` is the SHA-256 of
 * owner and key, `request_digest` the SHA-256 of the operation's path and the whole request.
 */
export const requestColumns = () => ({
  requestHash: text("request_hash").unique(),
  requestDigest: text("request_digest"),
});

/** One column of many rows as a parameter. SQL's `unnest` converts columns to rows. */
export function columnOf<Row>(
  type: "text" | "bigint" | "uuid",
  rows: readonly Row[],
  value: (row: Row) => unknown,
): SQL {
  return sql`${sql.param(rows.map(value))}::${sql.raw(type)}[]`;
}

/**
 * Whether a text column has one of these values. The values are one parameter, because PostgreSQL accepts at most 65,535
 * parameters.
 */
export function isAnyOf(column: PgColumn, values: readonly string[]): SQL {
  return sql`${column} = any(${sql.param(values)}::text[])`;
}
