import { sql } from "drizzle-orm";
import { type Database, rowsOf } from "../../../packages/service/src/api/database/database.ts";
import type { TestService } from "./support.ts";

/**
 * Returns the rows of every table of a database, as text: everything that a thief of the database could read.
 * @param containing only rows that contain at least one of these texts. Default: all rows
 */
export async function dump(
  database: Database,
  containing: readonly string[] = [""],
): Promise<Record<string, string[]>> {
  const listed = sql`select table_name as name from information_schema.tables where table_schema = 'public'`;
  const tables = rowsOf(await database.execute(listed)).map(({ name }) => String(name));
  const rows = tables.map(
    (name) => sql`select ${name}::text as name, row_to_json(t) #>> '{}' as json from ${sql.identifier(name)} t`,
  );
  const found = containing.map((text) => sql`strpos(json, ${text}) > 0`);
  // One query, because a query for each table takes several times its processor time.
  const all = sql`select name, json from (${sql.join(rows, sql` union all `)}) rows where ${sql.join(found, sql` or `)}`;
  const texts = new Map(tables.map((name): [string, string[]] => [name, []]));
  for (const { name, json } of rowsOf(await database.execute(all))) texts.get(String(name))?.push(String(json));
  return Object.fromEntries([...texts].map(([name, jsons]) => [name, jsons.sort()]));
}

/** Everything in a service's home database except its sessions, after the last uses of tokens are stored. */
export async function contentsOf({ context, databases }: TestService): Promise<Record<string, string[]>> {
  // Otherwise stored within a second.
  await context.refreshTokens.storeUses();
  return { ...(await dump(databases.home)), sessions: [] };
}
