import { command, json } from "@keyroot/operator/definition";

export const migrate = command(
  { summary: "Create or update the tables in the service's databases", options: { json } },
  async () => {
    const { readDatabaseConfig } = await import("../config/readConfig.ts");
    const { allDatabases, checkMigrations, openDatabases } = await import("../api/database/database.ts");
    const { databaseUrl: url, regionUrls, databaseFolder: folder } = readDatabaseConfig(process.env);
    await using databases = await openDatabases({ url, regionUrls, folder });
    await databases.migrate();
    await checkMigrations(databases);
    const count = allDatabases(databases).length;
    return {
      json: { databases: count },
      text: `${count === 1 ? "The database has" : `All ${count} databases have`} the tables that this version needs.`,
    };
  },
);
