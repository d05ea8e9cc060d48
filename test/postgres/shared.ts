import { createDatabase, type Databases, runAt, startPostgres } from "./postgres.ts";

let shared: Promise<Databases> | undefined;

/**
 * The PostgreSQL of this test run: the one that DATABASE_URL names (its user must be allowed to create databases), or else
 * one that starts with the first call and ends with the run. Each test makes databases of its own in it.
 */
export function sharedPostgres(): Promise<Databases> {
  const { DATABASE_URL: given } = process.env;
  shared ??= given === undefined ? startPostgres() : Promise.resolve(databasesAt(given));
  return shared;
}

/** Databases in a server that somebody else runs. */
export function databasesAt(url: string): Databases {
  const created: string[] = [];
  return {
    url,
    async createDatabase() {
      const database = await createDatabase(url);
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

// Outside of every describe: after the last test of the run.
after("PostgreSQL stops", async () => {
  await (await shared)?.stop();
});
