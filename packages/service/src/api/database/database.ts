import { loadPGliteDriver, max, sql } from "./drizzle.ts";
import { REGIONS, type Region } from "keyroot/internal/identity";
import { Cleanup } from "../base/cleanup.ts";
import { ArgumentError } from "../base/errors.ts";
import { appliedMigrations, applyMigrations, KNOWN } from "./applyMigrations.ts";
import { toConnectionError } from "./connectionError.ts";
import { DATABASE_NOW } from "./columns.ts";
import { type Database, type OpenedDatabase, rowsOf } from "./openedDatabase.ts";
import { openPGliteClient } from "./openPGliteClient.ts";
import { openPostgres } from "./openPostgres.ts";
import { schemaRequirements } from "./tables.ts";
import { URL_VARIABLES } from "./urlVariables.ts";

export { type Database, rowsOf } from "./openedDatabase.ts";

export interface DatabaseOptions {
  /** The `postgres://…` URL of the home database. If undefined, PGlite runs in this process, for development. */
  url: string | undefined;
  /** The URLs of regions that have a separate database. */
  regionUrls?: Partial<Record<Region, string | undefined>> | undefined;
  /** The folder in which PGlite stores its data. Null or undefined keeps the data in memory. */
  folder?: string | null | undefined;
  /** Whether each region has a separate PGlite in memory. The first region uses the home database. Default: false. */
  separateRegions?: boolean | undefined;
  /** Maximum number of connections to each PostgreSQL database. Default: 10. */
  connections?: number | undefined;
}

/**
 * The service's databases. The home database contains partners and the owner of each user id, and the regional
 * databases contain users.
 */
export interface Databases extends AsyncDisposable {
  readonly home: Database;
  readonly regions: Readonly<Record<Region, Database>>;
  /**
   * Creates or updates the tables of all databases.
   * @throws the errors of `toConnectionError`
   */
  migrate(): Promise<void>;
}

const DEFAULT_CONNECTIONS = 10;

/**
 * Opens the databases. It connects to PostgreSQL only at the first query.
 * @throws ArgumentError DATABASE_LOCKED if another process uses PGlite's folder; CONFIGURATION_INVALID if PGlite is
 *   required but not installed
 */
export async function openDatabases(options: DatabaseOptions): Promise<Databases> {
  await using opening = new Cleanup();
  const opened = new Map<string, OpenedDatabase & { place: Place }>();
  const open = async (url: string | undefined, place: Place): Promise<OpenedDatabase> => {
    const name = url ?? (options.separateRegions === true && place !== REGIONS[0] ? place : "home");
    const known = opened.get(name);
    if (known !== undefined) return known;
    const fresh =
      url === undefined
        ? await openPGlite(options.folder, opening)
        : await openPostgres(url, options.connections ?? DEFAULT_CONNECTIONS, opening);
    opened.set(name, { ...fresh, place });
    return fresh;
  };
  const home = await open(options.url, "home");
  const regions = {} as Record<Region, Database>;
  for (const region of REGIONS)
    regions[region] = (await open(options.regionUrls?.[region] ?? options.url, region)).database;

  const running = opening.move();
  return {
    home: home.database,
    regions,
    async migrate() {
      for (const { migrate, place } of opened.values()) await connected(migrate(), place);
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

export async function readClock(database: Database): Promise<number> {
  const [row] = rowsOf(await database.execute(sql`select ${DATABASE_NOW} as now`));
  return Number(row?.["now"]);
}

/** The places where data is stored: the home database and each region. */
export const PLACES = ["home", ...REGIONS] as const;
export type Place = (typeof PLACES)[number];

/** Returns each database once, with all its places. The home database is the first. */
function placesByDatabase({ home, regions }: Databases): ReadonlyMap<Database, readonly Place[]> {
  return Map.groupBy(PLACES, (place) => (place === "home" ? home : regions[place]));
}

/** Maps the first place of each database to the database. Several places can share a database. */
export function distinctDatabases(databases: Databases): ReadonlyMap<Place, Database> {
  return new Map([...placesByDatabase(databases)].map(([database, [place = "home"]]) => [place, database]));
}

/** Returns each database once, the home database first. */
export function allDatabases(databases: Databases): Database[] {
  return [...placesByDatabase(databases).keys()];
}

/** Returns the first region of each database that contains regions. */
export function distinctRegions({ regions }: Pick<Databases, "regions">): Region[] {
  return REGIONS.filter((region, i) => REGIONS.findIndex((other) => regions[other] === regions[region]) === i);
}

/** Returns the regional databases without duplicates, because several regions may share a database. */
export function regionalDatabases({ regions }: Pick<Databases, "regions">): Database[] {
  return distinctRegions({ regions }).map((region) => regions[region]);
}

export async function readAll<Row>(
  databases: readonly Database[],
  read: (database: Database) => PromiseLike<Row[]>,
): Promise<Row[]> {
  return (await Promise.all(databases.map((database) => read(database)))).flat();
}

/** Calls `make` with each region's database. Returns the results by region. */
export function perRegion<T>({ regions }: Databases, make: (database: Database) => T): Record<Region, T> {
  return Object.fromEntries(REGIONS.map((region) => [region, make(regions[region])])) as Record<Region, T>;
}

/**
 * Checks that every database has this version's migrations, and that this version works with any later ones.
 * @throws ArgumentError SCHEMA_OUTDATED, CONFIGURATION_INVALID; TransportError UNREACHABLE
 */
export async function checkMigrations(databases: Databases): Promise<void> {
  for (const [place, database] of distinctDatabases(databases)) {
    const applied = await connected(appliedMigrations(database), place);
    const refusal =
      applied.length < KNOWN.length
        ? `A database has ${applied.length} of this version's ${KNOWN.length} migrations. Run 'keyroot migrate'.`
        : KNOWN.every((hash, i) => hash === applied[i])
          ? await checkRequirements(database)
          : "A database has migrations that this version does not contain. Run the version of Keyroot that made them.";
    const details = { expected: KNOWN.length, actual: applied.length };
    if (refusal !== undefined) throw new ArgumentError("SCHEMA_OUTDATED", refusal, details);
  }
}

/**
 * Checks that later migrations have not removed a table or column that this version uses.
 * @param database a database with all migrations of this version
 * @returns the reason why this version cannot use the database. Undefined if it can
 */
export async function checkRequirements(database: Database): Promise<string | undefined> {
  const [required] = await database.select({ migrations: max(schemaRequirements.migrations) }).from(schemaRequirements);
  const migrations = required?.migrations ?? 0;
  if (migrations <= KNOWN.length) return undefined;
  return `A database requires a version of Keyroot with ${migrations} migrations, but this version has ${KNOWN.length}. Run a newer version.`;
}

/**
 * Waits for the first query of a database.
 * @throws the errors of `toConnectionError`, whose message names the variable with the database's URL
 */
function connected<T>(query: Promise<T>, place: Place): Promise<T> {
  return query.catch((error: unknown) => {
    throw toConnectionError(error, URL_VARIABLES[place]);
  });
}

async function openPGlite(folder: string | null | undefined, closing: Cleanup): Promise<OpenedDatabase> {
  // This call comes first, because its error names the package to install.
  const client = await openPGliteClient(folder, closing);
  const database = loadPGliteDriver().drizzle(client);
  return { database, migrate: () => applyMigrations(database) };
}

/**
 * Sends a test query to each database.
 * @returns for each database, its places, such as "home, us-west-2", and the error if there was one
 */
export function checkDatabases(databases: Databases): Promise<{ name: string; error: unknown }[]> {
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
