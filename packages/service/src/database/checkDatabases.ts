import { sql } from "./drizzle.ts";
import { type Databases, placesByDatabase } from "./database.ts";

export interface DatabaseCheck {
  /** The places with data in this database, such as "home, us-west-2". */
  name: string;
  /** The reason why the database does not respond. Undefined if it responds. */
  error: unknown;
}

/** Sends a query to each database. */
export function checkDatabases(databases: Databases): Promise<DatabaseCheck[]> {
  return Promise.all(
    [...placesByDatabase(databases)].map(async ([database, places]) => {
      const error: unknown = await database.execute(sql`select 1`).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      return { name: places.join(", "), error };
    }),
  );
}
