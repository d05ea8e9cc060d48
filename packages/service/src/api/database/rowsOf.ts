/**
 * Returns the rows of a plain query's result. Both drivers return them as `rows`, but drizzle's common type does not
 * declare this field.
 */
export function rowsOf(result: unknown): Record<string, unknown>[] {
  return (result as { rows: Record<string, unknown>[] }).rows;
}
