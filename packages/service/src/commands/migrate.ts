import { readConfig } from "../config/readConfig.ts";
import { allDatabases, checkMigrations, openDatabases } from "../api/database/database.ts";
import type { Outcome } from "@keyroot/operator/commands";

/** The `keyroot migrate` command creates or updates the tables of the service's databases. */
export default async function migrate(): Promise<Outcome> {
  const { databaseUrl: url, regionUrls, databaseFolder: folder } = readConfig(process.env);
  await using databases = await openDatabases({ url, regionUrls, folder });
  await databases.migrate();
  await checkMigrations(databases);
  const count = allDatabases(databases).length;
  return {
    json: { databases: count },
    text: `${count === 1 ? "The database has" : `All ${count} databases have`} the tables that this version needs.`,
  };
}
