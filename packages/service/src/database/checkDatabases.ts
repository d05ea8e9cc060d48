import { sql } from "./drizzle.ts";
import { REGIONS } from "keyroot/identity";
import type { Database, Databases } from "./database.ts";

export interface DatabaseCheck {
  /** A name of the database, such as "home" or "us-west-2". One database may have several names. */
  name: string;
  /** The reason why the database does not respond. Undefined if it responds. */
  error: unknown;
}

/** Sends a query to each database. */
export async function checkDatabases({ home, regions }: Databases): Promise<DatabaseCheck[]> {
  const names = new Map<Database, string[]>([[home, ["home"]]]);
  for (const region of REGIONS) {
    const database = regions[region];
    names.set(database, [...(names.get(database) ?? []), region]);
  }
  return Promise.all(
    [...names].map(async ([database, all]) => {
      const name = all.join(", ");
      try {
        await database.execute(sql`select 1`);
        return { name, error: undefined };
      } catch (error) {
        return { name, error };
      }
    }),
  );
}
