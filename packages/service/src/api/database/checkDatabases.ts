import { sql } from "./drizzle.ts";
import { type Databases, placesByDatabase } from "./database.ts";

export interface DatabaseCheck {
  /** The places with data in the database, such as "home, us-west-2". */
  name: string;
  /** The error of the test query, or undefined if the database responded. */
  error: unknown;
}

/** Sends a test query to each database. */
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
