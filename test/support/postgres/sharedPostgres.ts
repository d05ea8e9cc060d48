import { createDatabase, type DatabaseServer, runAt, startPostgres } from "./postgres.ts";

let shared: Promise<DatabaseServer> | undefined;

/**
 * Returns the PostgreSQL of this test run. `DATABASE_URL` can contain its URL, with a user who may create databases.
 * Without this variable, the first call starts a server, which ends with the run. Each test creates its own databases
 * there.
 */
export function sharedPostgres(): Promise<DatabaseServer> {
  const { DATABASE_URL: url } = process.env;
  shared ??= url === undefined ? startPostgres() : Promise.resolve(serverAt(url));
  return shared;
}

/** Returns a server that DATABASE_URL names. `stop` removes the databases that were created in it. */
function serverAt(url: string): DatabaseServer {
  const created: string[] = [];
  return {
    url,
    async createDatabase(template) {
      const database = await createDatabase(url, template);
      created.push(database);
      return database;
    },
    async stop() {
      for (const database of created.splice(0)) {
        await runAt(url, `DROP DATABASE IF EXISTS "${new URL(database).pathname.slice(1)}" WITH (FORCE)`);
      }
    },
  };
}

// Outside every describe: runs after the last test. A server of this process ends with it, and its reaper then removes
// up to a hundred databases with 300 files each, while the next tests run.
after("the databases are removed", async () => {
  if (process.env["DATABASE_URL"] !== undefined) await (await shared)?.stop();
});
