/** Fills a database of the service with users of one partner, using only SQL, for `npm run bench -- size`. */
import { Client } from "pg";
import { REGIONS } from "keyroot/internal/identity";
import { runAt } from "../../test/support/postgres/postgres.ts";
import { SMALL } from "../runner/report.ts";

/** The number of users with pending keys among the inserted users. */
export const PENDING = SMALL ? 500 : 10_000;
/** The approximate number of users in a batch. */
const USERS_PER_BATCH = 700;

/**
 * Settings of the connections that insert rows. With these settings, PostgreSQL skips foreign keys and triggers, does
 * not wait for the disk, and uses more memory to build indexes.
 */
const SETTINGS = [
  "SET session_replication_role = replica",
  "SET synchronous_commit = off",
  "SET maintenance_work_mem = '512MB'",
];

export interface Relation {
  name: string;
  /** The table of an index, or null for a table. */
  table: string | null;
  bytes: number;
}

/**
 * Adds users with two tokens, a key, an audit entry, an event and a key event each. All keys are published except the
 * keys of `PENDING` users. Token hashes have the correct format, but belong to no token.
 *
 * The connections of this function switch off foreign keys and triggers. Therefore it also fills `user_counts` and
 * `published_days`, the sums that triggers otherwise maintain.
 */
export async function fillDatabase(url: string, bizID: string, users: number): Promise<void> {
  const rows = rowsOf(bizID, users);
  // Use two connections, so that two cores are used.
  const halves = [
    ["user_ids", "users", "public_keys", "batches", "batch_shares", "published_days", "user_counts"],
    ["user_tokens", "audit_entries", "events", "key_events"],
  ] as const;
  const inHalves = (statementsOf: (table: keyof typeof rows) => string[]) =>
    Promise.all(halves.map((tables) => runAll(url, [...SETTINGS, ...tables.flatMap(statementsOf)])));
  await inHalves((table) => [
    // First insert all rows. Then build each existing index as a whole, as pg_restore does.
    `UPDATE pg_index SET indisready = false WHERE indrelid = '${table}'::regclass`,
    `INSERT INTO ${table} ${rows[table]}`,
    `REINDEX TABLE ${table}`,
  ]);
  // Run VACUUM now, because no open transaction needs the old rows.
  await inHalves((table) => [`VACUUM (ANALYZE) ${table}`]);
  await runAll(url, ["CHECKPOINT"]);
}

/**
 * Reads the indexes of ids and hashes into the server's memory. On a server that has run for a while, these indexes are
 * in memory, because each new user or token writes to them at random places.
 */
export async function readIntoMemory(url: string): Promise<void> {
  await runAll(url, [
    "CREATE EXTENSION IF NOT EXISTS pg_prewarm",
    // Read the indexes of users last, so that they stay in memory if not all indexes fit.
    "SELECT pg_prewarm(indexrelid) FROM pg_index WHERE indrelid = 'user_tokens'::regclass",
    `SELECT pg_prewarm(indexrelid) FROM pg_index WHERE indrelid IN ('users'::regclass, 'user_ids'::regclass)
      OR indexrelid IN ('audit_entries_of_user'::regclass, 'public_keys_pkey'::regclass)`,
  ]);
}

/**
 * Returns the tables and indexes with at least 8 pages. Tables are sorted by size, the largest first, and each one is
 * followed by its indexes.
 */
export async function sizesOf(url: string): Promise<Relation[]> {
  const rows = await runAt<{ name: string; owner: string | null; bytes: string }>(
    url,
    `SELECT c.relname AS name, t.relname AS owner, pg_table_size(c.oid) AS bytes
    FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_class t ON t.oid = i.indrelid
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'i') AND pg_table_size(c.oid) >= 65536
    ORDER BY pg_table_size(coalesce(t.oid, c.oid)) DESC, coalesce(t.relname, c.relname), i.indexrelid IS NOT NULL, c.relname`,
  );
  return rows.map(({ name, owner, bytes }) => ({ name, table: owner, bytes: Number(bytes) }));
}

async function runAll(url: string, all: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of all) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Returns the part of each table's INSERT statement after its name. */
function rowsOf(bizID: string, users: number) {
  const created = 1_780_000_000_000;
  // Imitate a database that grew over time: only the newest keys are pending, and ids have a random order.
  const isPending = `i > ${users - PENDING}`;
  const batch = `((i - 1) / ${USERS_PER_BATCH})`;
  /** SQL for 8 hex digits that differ for each `i` and are evenly distributed (multiplicative hashing). */
  const hex = (i: string) => `lpad(to_hex(${i}::bigint * 2654435761 % 4294967296), 8, '0')`;
  // Use every second digit of zBase32, in ASCII order. Ids of new users then sort between the inserted ones.
  const userID = `translate(${hex("i")}, '0123456789abcdef', '1468acegiknprtwy') || '${"y".repeat(24)}'`;
  const root = `${hex(batch)} || '${"0".repeat(56)}'`;
  const token = hex("j");
  const uuid = "'00000000-0000-4000-8000-000000000000'";
  const keyID = `${hex("i")} || '${"A".repeat(14)}=='`;
  const region = `(ARRAY['${REGIONS.join("', '")}'])[1 + ${batch} % ${REGIONS.length}]`;
  const data = `'{"region": "${REGIONS[0]}"}'::jsonb`;
  const series = `FROM generate_series(1, ${users}) AS i`;
  return {
    user_ids: `(user_id, biz_id, region) SELECT ${userID}, '${bizID}', ${region} ${series}`,
    users: `(user_id, biz_id, region, bucket, salt, created)
      SELECT user_id, '${bizID}', region, 'keyroot-dev-' || region || '-' || user_id, ${hex("i")} || '${"0".repeat(24)}', ${created} + i
      FROM (SELECT i, ${userID} AS user_id, ${region} AS region ${series}) AS filled`,
    user_tokens: `(token_id, token_hash, created, user_id, context, last_used)
      SELECT (${token} || '${"0".repeat(24)}')::uuid, ${token} || '${"0".repeat(56)}', ${created} + j, ${userID}, 'phone',
        CASE WHEN j % 2 = 0 THEN ${created} END
      FROM (SELECT j, (j + 1) / 2 AS i FROM generate_series(1, ${2 * users}) AS j) AS filled`,
    batches: `(root, created, transaction_hash, block_number, confirmed, gas_used, cost, added_count)
      SELECT ${root}, ${created} + i, '0x' || ${root}, i, ${created} + i, 15800000, 15800000000000000, ${USERS_PER_BATCH}
      FROM generate_series(1, ${users}, ${USERS_PER_BATCH}) AS i`,
    batch_shares: `(root, biz_id, region, users)
      SELECT min(${root}), '${bizID}', min(${region}), count(*) ${series} WHERE NOT ${isPending} GROUP BY ${batch}`,
    published_days: `(biz_id, day, users, cost, unpriced)
      SELECT biz_id, published_day(batches), sum(users), sum(published_cost(batches, users)),
        sum(CASE WHEN cost IS NULL THEN users ELSE 0 END)
      FROM batch_shares JOIN batches USING (root) WHERE block_number IS NOT NULL GROUP BY 1, 2`,
    public_keys: `(user_id, region, pub_key, key_id, registered, possession, hold_ends_at, submitted, root, biz_id)
      SELECT ${userID}, ${region}, 'B' || ${hex("i")} || '${"A".repeat(131)}', ${keyID}, ${created} + i, 'proven',
        ${created} + i, CASE WHEN NOT ${isPending} THEN ${created} + i END, CASE WHEN NOT ${isPending} THEN ${root} END,
        '${bizID}'
      ${series}`,
    user_counts: `(biz_id, shard, users) VALUES ('${bizID}', 99, ${users})`,
    audit_entries: `(biz_id, user_id, data, at, action, actor_kind, actor_id, actor_token, request_id, address)
      SELECT '${bizID}', ${userID}, ${data}, ${created} + i, 'user.created', 'partner', ${uuid}, ${uuid}, ${uuid}, '192.0.2.1'
      ${series}`,
    events: `(biz_id, user_id, data, at, type, dispatched)
      SELECT '${bizID}', ${userID}, ${data}, ${created} + i, 'user.created', ${created} + i ${series}`,
    key_events: `(user_id, type, key_id, at) SELECT ${userID}, 'registered', ${keyID}, ${created} + i ${series}`,
  };
}
