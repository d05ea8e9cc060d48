import { readConfig } from "../service/config.ts";
import { checkMigrations, openDatabases } from "../service/store/database.ts";
import { command } from "./command.ts";

/** `keyroot migrate`: gives the service's databases the tables that this version needs. */
export default command(async () => {
  const { databaseUrl: url, regionUrls, databaseFolder: folder } = readConfig(process.env);
  await using databases = await openDatabases({ url, regionUrls, folder });
  await databases.migrate();
  await checkMigrations(databases);
  const count = new Set([databases.home, ...Object.values(databases.regions)]).size;
  return {
    json: { databases: count },
    text: `${count === 1 ? "The database has" : `All ${count} databases have`} the tables that this version needs.`,
  };
});
