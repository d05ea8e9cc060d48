import type { PgDatabase, PgQueryResultHKT } from "drizzle-orm/pg-core";
import { sql } from "drizzle-orm";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { lockFolder } from "../../disk/lockFolder.ts";
import { ArgumentError } from "keyroot/errors";
import { REGIONS, type Region } from "keyroot/identity";

/** A database of either kind: the same dialect, the same tables, the same queries. */
export type Database = PgDatabase<PgQueryResultHKT>;

/** Where the service keeps what it knows. */
export interface DatabaseOptions {
  /** `postgres://…`; undefined for a database in this process, for development. */
  url: string | undefined;
  /** The regions that have a database of their own. */
  regionUrls?: Partial<Record<Region, string | undefined>>;
  /** The folder of the database in this process; undefined keeps it in memory. */
  folder?: string | undefined;
  /** The most connections to each PostgreSQL. */
  connections?: number;
}

/** The home database, which knows partners and whose each user id is, and the regions', which know the users. */
export interface Databases extends AsyncDisposable {
  readonly home: Database;
  readonly regions: Readonly<Record<Region, Database>>;
  /** Brings the tables of every database to what this version needs. */
  migrate(): Promise<void>;
}

const MIGRATIONS = { migrationsFolder: fileURLToPath(new URL("migrations", import.meta.url)) };
const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 15_000;

interface Opened {
  database: Database;
  migrate: () => Promise<void>;
}

/**
 * Opens the databases. Those of PostgreSQL are connected to when they are first asked.
 * @throws ArgumentError DATABASE_LOCKED where another process has the folder
 */
export async function openDatabases(options: DatabaseOptions): Promise<Databases> {
  await using opening = new AsyncDisposableStack();
  const opened = new Map<string | undefined, Opened>();
  const open = async (url: string | undefined): Promise<Opened> => {
    const known = opened.get(url);
    if (known !== undefined) return known;
    const fresh =
      url === undefined ? await openInProcess(options.folder, opening) : await openPostgres(url, options, opening);
    opened.set(url, fresh);
    return fresh;
  };
  const home = await open(options.url);
  const regions = {} as Record<Region, Database>;
  for (const region of REGIONS) regions[region] = (await open(options.regionUrls?.[region] ?? options.url)).database;

  const running = opening.move();
  return {
    home: home.database,
    regions,
    async migrate() {
      for (const each of opened.values()) await each.migrate();
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/**
 * Checks that each database has exactly the tables that this version needs.
 * @throws ArgumentError SCHEMA_OUTDATED
 */
export async function checkMigrations({ home, regions }: Databases): Promise<void> {
  const needed = readMigrationFiles(MIGRATIONS).map(({ hash }) => hash);
  for (const database of new Set([home, ...Object.values(regions)])) {
    const found = await appliedMigrations(database);
    if (found.length === needed.length && found.every((hash, i) => hash === needed[i])) continue;
    const message =
      found.length < needed.length
        ? `A database has ${found.length} of the ${needed.length} migrations that this version needs: run 'npx hardhat keyroot migrate'.`
        : "A database has other migrations than this version's: run the version of Keyroot that made them.";
    throw new ArgumentError("SCHEMA_OUTDATED", message, { expected: needed.length, actual: found.length });
  }
}

async function appliedMigrations(database: Database): Promise<string[]> {
  const [table] = rowsOf(await database.execute(sql`select to_regclass('drizzle.__drizzle_migrations') as name`));
  if (table === undefined || table["name"] === null) return [];
  const rows = rowsOf(await database.execute(sql`select hash from drizzle.__drizzle_migrations order by created_at`));
  return rows.map(({ hash }) => String(hash));
}

/** Both drivers answer a plain query with its `rows`, which drizzle's common type does not know. */
function rowsOf(result: unknown): Record<string, unknown>[] {
  return (result as { rows: Record<string, unknown>[] }).rows;
}

async function openPostgres(
  url: string,
  { connections = 10 }: DatabaseOptions,
  closing: AsyncDisposableStack,
): Promise<Opened> {
  const { Pool } = (await import("pg")).default;
  const { drizzle } = await import("drizzle-orm/node-postgres");
  const { migrate } = await import("drizzle-orm/node-postgres/migrator");
  const pool = new Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS + 1_000,
    keepAlive: true,
  });
  // A connection that breaks while nobody uses it: the pool makes a new one, and whoever asks next hears of a lasting fault.
  pool.on("error", () => undefined);
  closing.defer(() => pool.end());
  const database = drizzle(pool);
  return { database, migrate: () => migrate(database, MIGRATIONS) };
}

async function openInProcess(folder: string | undefined, closing: AsyncDisposableStack): Promise<Opened> {
  const { PGlite } = await import("@electric-sql/pglite");
  const { drizzle } = await import("drizzle-orm/pglite");
  const { migrate } = await import("drizzle-orm/pglite/migrator");
  let dataDir: string | undefined;
  if (folder !== undefined) {
    const lock = await lockFolder(folder);
    if (lock === undefined) {
      const message = `Another process uses the database in ${folder}: ask that one, or stop it.`;
      throw new ArgumentError("DATABASE_LOCKED", message, { actual: folder });
    }
    closing.use(lock);
    dataDir = join(folder, "data");
    // Made beside its place: an end in the middle of its making would leave half a database, on which a start may hang.
    if (!existsSync(dataDir)) {
      const draft = join(folder, "draft");
      await rm(draft, { recursive: true, force: true });
      await (await PGlite.create({ dataDir: draft })).close();
      await rename(draft, dataDir);
    }
  }
  const client = await PGlite.create(dataDir === undefined ? {} : { dataDir });
  closing.defer(() => client.close());
  const database = drizzle(client);
  return { database, migrate: () => migrate(database, MIGRATIONS) };
}
