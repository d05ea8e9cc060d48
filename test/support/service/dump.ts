import { sql } from "drizzle-orm";
import type { Database } from "../../../packages/service/src/database/database.ts";
import type { TestService } from "./support.ts";

/**
 * Returns the rows of every table of a database, as text: everything that a thief of the database could read.
 * @param containing only rows that contain at least one of these texts. Default: all rows
 */
export async function dump(
  database: Database,
  containing: readonly string[] = [""],
): Promise<Record<string, string[]>> {
  const tables = await texts(
    database,
    sql`select table_name from information_schema.tables where table_schema = 'public'`,
  );
  const rows = tables.map(async (table) => {
    const all = sql`select row_to_json(t) #>> '{}' as json from ${sql.identifier(table)} t`;
    const found = containing.map((text) => sql`strpos(json, ${text}) > 0`);
    const rows = sql`select json from (${all}) rows where ${sql.join(found, sql` or `)}`;
    return [table, (await texts(database, rows)).sort()] as const;
  });
  return Object.fromEntries(await Promise.all(rows));
}

/** Everything in a service's home database except its sessions, after the last uses of tokens are stored. */
export async function contentsOf({ context, databases }: TestService): Promise<Record<string, string[]>> {
  // Otherwise stored within a second.
  await context.refreshTokens.storeUses();
  return { ...(await dump(databases.home)), sessions: [] };
}

/** The values of the only column of a query. */
async function texts(database: Database, query: ReturnType<typeof sql>): Promise<string[]> {
  const { rows } = (await database.execute<Record<string, string>>(query)) as { rows: Record<string, string>[] };
  return rows.flatMap((row) => Object.values(row));
}
