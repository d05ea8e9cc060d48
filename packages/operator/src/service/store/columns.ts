import { type SQL, sql } from "drizzle-orm";

/** One column of many rows as a parameter. SQL's `unnest` converts columns to rows. */
export function columnOf<Row>(
  type: "text" | "bigint" | "uuid",
  rows: readonly Row[],
  value: (row: Row) => unknown,
): SQL {
  return sql`${sql.param(rows.map(value))}::${sql.raw(type)}[]`;
}
