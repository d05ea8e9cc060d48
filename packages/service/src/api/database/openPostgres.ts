import type { Pool, PoolClient } from "pg";
import pRetry from "p-retry";
import type { Cleanup } from "../base/cleanup.ts";
import { applyMigrations } from "./applyMigrations.ts";
import type { OpenedDatabase } from "./openedDatabase.ts";
import { loadPostgresDriver } from "./drizzle.ts";
import { isDatabaseUnavailable, STANDBY_MESSAGE } from "./unavailable.ts";

const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 15_000;
const LOCK_RETRIES = { retries: 20, minTimeout: 1_000, maxTimeout: 10_000 };

/** The first query of a connection. It replaces startup parameters, which connection poolers reject. */
const FIRST_QUERY = `select pg_is_in_recovery() as standby, pg_backend_pid() as pid,
  set_config('statement_timeout', '${STATEMENT_TIMEOUT_MS}', false)`;

/**
 * Opens a PostgreSQL database, directly or through a connection pooler such as PgBouncer in transaction mode. It
 * connects only at the first query.
 * @param connections maximum number of connections
 */
export async function openPostgres(url: string, connections: number, closing: Cleanup): Promise<OpenedDatabase> {
  const { Client, Pool } = (await import("pg")).default;
  const { drizzle } = loadPostgresDriver();
  const common = { connectionString: withSslMode(url), connectionTimeoutMillis: CONNECT_TIMEOUT_MS };
  const pool = new Pool({
    ...common,
    max: connections,
    query_timeout: STATEMENT_TIMEOUT_MS + 1_000,
    keepAlive: true,
    verify: (client, done) => {
      prepareConnection(client).then(() => {
        done();
      }, done);
    },
  });
  // Without a listener, the process would end if a connection broke between two queries. The pool replaces a broken
  // connection. If the database is still unavailable then, the next query fails.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  closing.defer(() => pool.end());
  // Migrations use their own connection, because queries in the pool have a time limit and indexing a large table takes
  // longer.
  const migrateOnce = async () => {
    const client = new Client(common);
    client.on("error", () => undefined);
    await client.connect();
    try {
      await applyMigrations(drizzle(client));
    } finally {
      await client.end();
    }
  };
  // The operator's `withRetry` is for HTTP requests.
  const migrate = () => pRetry(migrateOnce, { ...LOCK_RETRIES, shouldRetry: ({ error }) => isOvertaken(error) });
  const database = drizzle(pool);
  const transaction: typeof database.transaction = (work, config) =>
    withClient(pool, (client, guarded) => drizzle(client).transaction((inner) => guarded(work(inner)), config));
  return { database: Object.assign(database, { transaction }), migrate };
}

/**
 * Replaces the `sslmode` values prefer, require and verify-ca with `verify-full`. node-postgres already treats these
 * values like `verify-full`, but prints a warning that a later version will verify less.
 */
function withSslMode(url: string): string {
  return url.includes("uselibpqcompat=")
    ? url
    : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, "$1verify-full");
}

/**
 * Rejects a standby, to which a proxy that has just started may connect. Its data may be outdated, so that revoked
 * tokens would still be active.
 *
 * Behind a pooler in transaction mode, statements have no names, because a named statement may reach a server
 * connection on which it was not prepared. A pooler is recognized by the process id, which it assigns itself.
 */
async function prepareConnection(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ standby: boolean; pid: number }>(FIRST_QUERY);
  if (rows[0]?.standby !== false) throw new Error(STANDBY_MESSAGE);
  if (rows[0].pid === (client as { processID?: unknown }).processID) return;
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  const withoutName = (statement: unknown, ...rest: unknown[]) =>
    query(typeof statement === "object" ? { ...statement, name: undefined } : statement, ...rest);
  Object.assign(client, { query: withoutName });
}

/**
 * Returns whether another process is in the way: a transaction locks a table (`lock_not_available`), or another process
 * has just created the schema or table of the first migration.
 */
function isOvertaken({ cause }: Error): boolean {
  const { code, constraint } = (cause ?? {}) as { code?: unknown; constraint?: unknown };
  return code === "55P03" || (code === "23505" && typeof constraint === "string" && constraint.startsWith("pg_"));
}

/**
 * Runs a transaction on its own connection. If the connection fails, it is closed at once, and its error is thrown.
 * drizzle's `transaction` would keep the connection after a failed `begin`. If the rollback failed as well, it would
 * hide the first error.
 * @param run passes each step that may break the connection, as a promise, to its second parameter
 */
async function withClient<T>(
  pool: Pool,
  run: (client: PoolClient, guarded: <Step>(step: Promise<Step>) => Promise<Step>) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let failure: Error | undefined;
  const closeIfBroken = (error: unknown): never => {
    if (failure === undefined && isDatabaseUnavailable(error)) {
      failure = error as Error;
      client.release(failure);
    }
    throw failure ?? error;
  };
  try {
    return await run(client, (step) => step.catch(closeIfBroken)).catch(closeIfBroken);
  } finally {
    if (failure === undefined) client.release();
  }
}
