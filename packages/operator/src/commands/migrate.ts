import { readConfig } from "../service/readConfig.ts";
import { checkMigrations, openDatabases } from "../service/store/database.ts";
import type { Outcome } from "./host.ts";

/** `keyroot migrate`: creates or updates the tables of the service's databases. */
export default async function migrate(): Promise<Outcome> {
  const { databaseUrl: url, regionUrls, databaseFolder: folder } = readConfig(process.env);
  await using databases = await openDatabases({ url, regionUrls, folder });
  await databases.migrate();
  await checkMigrations(databases);
  const count = new Set([databases.home, ...Object.values(databases.regions)]).size;
  return {
    json: { databases: count },
    text: `${count === 1 ? "The database has" : `All ${count} databases have`} the tables that this version needs.`,
  };
}
