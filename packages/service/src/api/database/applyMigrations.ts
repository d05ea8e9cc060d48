import { fileURLToPath } from "node:url";
import { readMigrationFiles, sql } from "./drizzle.ts";
import { type Database, rowsOf } from "./openedDatabase.ts";

const MIGRATIONS = readMigrationFiles({ migrationsFolder: fileURLToPath(new URL("migrations", import.meta.url)) });
/** The hashes of this version's migrations, from the oldest to the newest. */
export const KNOWN = MIGRATIONS.map(({ hash }) => hash);
/**
 * How long a migration waits for a table lock, in ms. Other requests queue behind a waiting migration, so it gives up
 * soon and is retried later.
 */
const LOCK_TIMEOUT_MS = 2_000;

/**
 * Applies the migrations that a database does not have, in one transaction.
 *
 * They are recorded in drizzle's own table. The table and its schema are created only if they are missing, because
 * PostgreSQL requires the right to create them even if they exist. The time limits are set in the transaction, so that
 * they also apply behind a connection pooler. Only the wait for locks is limited, because indexing a large table may
 * take long.
 * @throws the database's error, such as 55P03 after `LOCK_TIMEOUT_MS`
 */
export async function applyMigrations(database: Database): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.execute(
      sql`select set_config('lock_timeout', ${String(LOCK_TIMEOUT_MS)}, true), set_config('statement_timeout', '0', true)`,
    );
    if (!(await exists(transaction, sql`to_regnamespace('drizzle')`)))
      await transaction.execute(sql`create schema drizzle`);
    if (!(await exists(transaction, sql`to_regclass('drizzle.__drizzle_migrations')`)))
      await transaction.execute(
        sql`create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)`,
      );
    // A second migration that runs at the same time waits here.
    await transaction.execute(sql`lock table drizzle.__drizzle_migrations in share row exclusive mode`);
    const [newest] = rowsOf(
      await transaction.execute(sql`select max(created_at) as at from drizzle.__drizzle_migrations`),
    );
    for (const { sql: statements, hash, folderMillis } of MIGRATIONS) {
      if (folderMillis <= Number(newest?.["at"] ?? -1)) continue;
      for (const statement of statements) await transaction.execute(sql.raw(statement));
      await transaction.execute(
        sql`insert into drizzle.__drizzle_migrations (hash, created_at) values (${hash}, ${folderMillis})`,
      );
    }
  });
  await renumberRestoredEvents(database);
}

/** Returns the hashes of a database's migrations, from the oldest to the newest. */
export async function appliedMigrations(database: Database): Promise<string[]> {
  if (!(await exists(database, sql`to_regclass('drizzle.__drizzle_migrations')`))) return [];
  const rows = rowsOf(await database.execute(sql`select hash from drizzle.__drizzle_migrations order by created_at`));
  return rows.map(({ hash }) => String(hash));
}

async function exists(database: Database, name: ReturnType<typeof sql>): Promise<boolean> {
  const [row] = rowsOf(await database.execute(sql`select ${name} is not null as found`));
  return row?.["found"] === true;
}

/**
 * Gives restored events a transaction id of this server. A dump contains the transaction ids of the old server. If an
 * event's id is above all ids of this server, the event would not be listed. The order of events by `position` stays
 * the same. Old cursors are rejected with CURSOR_UNKNOWN, so readers start again.
 */
async function renumberRestoredEvents(database: Database): Promise<void> {
  // The transaction of a visible row has ended, so its id is below the snapshot's xmax.
  await database.execute(
    sql`update events set xid = pg_current_xact_id() where xid >= pg_snapshot_xmax(pg_current_snapshot())`,
  );
}
