/**
 * Measures the partner service under load. Token exchanges are compared with the refresh grant of oidc-provider. The
 * creation of users is compared with pgbench, which inserts the same rows. All measurements use the same PostgreSQL in
 * the same run.
 *
 * The benchmark also measures both operations at fixed rates, and the cost of recording changes.
 */
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { runAt, startPostgres } from "../test/support/postgres/postgres.ts";
import { startChild } from "../test/support/processes/childProcess.ts";
import { serviceEnvironment } from "../test/support/service/serviceProcess.ts";
import { type Contender, REGION, startKeyroot } from "./service/keyroot.ts";
import type { Measured, Plan } from "./service/load.ts";
import type { OidcRequest, StartedOidcProvider } from "./service/oidcProvider.ts";
import { pgbench, pgbenchVersion } from "./service/pgbench.ts";
import { measuredOf, type OpenLoop } from "./service/measured.ts";
import { median, report, SMALL } from "./runner/report.ts";

const QUICK = SMALL;
const ROUNDS = QUICK ? 1 : 5;
const SECONDS = QUICK ? 1 : 4;
const OPEN_LOOP_SECONDS = QUICK ? 1 : 60;
const TOKENS = QUICK ? 64 : 10_000;
/** The numbers of concurrent clients to measure. The goals apply to 32 clients. */
const CLIENTS = QUICK ? [32] : [10, 32, 64];
const CLAIM = 32;
/** The requests per second of the runs at a fixed rate, which do not depend on the machine's peak. */
const RATES = QUICK ? { exchange: [50], creation: [50] } : { exchange: [2000, 4000], creation: [1000] };
/** The number of database connections, which equals the number of clients, so that no client waits for a connection. */
const CONNECTIONS = 64;

await using cleanup = new AsyncDisposableStack();
const postgres = await startPostgres({
  fsync: true,
  settings: { shared_buffers: "512MB", max_wal_size: "4GB", max_connections: 300 },
});
cleanup.defer(() => postgres.stop());
const environment = await serviceEnvironment(postgres, CONNECTIONS);
const { DATABASE_URL: databaseUrl } = environment;
const load = cleanup.use(startChild<Plan, Measured>(new URL("service/load.ts", import.meta.url)));

const keyroot = await startKeyroot(cleanup, environment, TOKENS);
const oidc = await startOidcProvider();
const contenders = { keyroot: keyroot.exchange, oidcProviderJwt: oidc.jwt, oidcProviderOpaque: oidc.opaque };
// Warm up until Node.js has optimized the code.
for (const contender of [...Object.values(contenders), keyroot.creation]) await measure(contender, CLAIM);

// Run the fixed rates first, because the other runs add millions of rows. `npm run bench -- size` measures large
// tables.
const fixedRates = [
  ...(await atFixedRates("exchange", keyroot.exchange, RATES.exchange)),
  ...(await atFixedRates("creation", keyroot.creation, RATES.creation)),
];
const exchange = summary(
  await inRounds(CLIENTS, (clients) => mapValues(contenders, (contender) => () => measure(contender, clients))),
);
const creation = summary(
  await inRounds(CLIENTS, (clients) => ({
    keyroot: () => measure(keyroot.creation, clients),
    pgbench: () => sameRows(clients),
    pgbenchOneCommit: () => sameRows(clients, { oneCommit: true }),
    pgbenchWithoutRecords: () => sameRows(clients, { withoutRecords: true }),
  })),
);
const figures = {
  database: `${postgres.version}, fsync on, at most ${CONNECTIONS} connections to each server; ${pgbenchVersion()}`,
  closedLoop: {
    what: `by number of clients: median of ${ROUNDS} alternating rounds of ${SECONDS} s; requests per second, ms per response, µs of the server's processor time per request, share of a core that the load used`,
    exchange,
    creation,
  },
  openLoop: {
    what: `requests at a fixed rate for ${OPEN_LOOP_SECONDS} s; ms from when a request was due; slowSeconds: the seconds in which a response took more than 50 ms, with the slowest one's ms; loadStall: the longest pause of the load generator itself, ms; busyCores: of this machine, with everything that runs on it; stolen: the share that the host gave to others; then what PostgreSQL did besides`,
    runs: fixedRates,
  },
};
report(measuredOf(figures));

/** Starts oidc-provider, with the same number of refresh tokens for each format of access tokens. */
async function startOidcProvider(): Promise<{ jwt: Contender; opaque: Contender }> {
  const child = cleanup.use(
    startChild<OidcRequest | { cpu: true }, unknown>(new URL("service/oidcProvider.ts", import.meta.url)),
  );
  const started = await child.send({ databaseUrl, connections: CONNECTIONS, tokens: TOKENS });
  const { origin, forms } = started as StartedOidcProvider;
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const cpu = async () => (await child.send({ cpu: true })) as number;
  return mapValues(forms, (bodies) => ({ origin, cpu, requests: { path: "/token", headers, bodies, status: 200 } }));
}

/**
 * Inserts the rows of a new user with pgbench, again and again. The columns, indexes, triggers and results are the same
 * as in the service.
 */
async function sameRows(clients: number, { oneCommit = false, withoutRecords = false } = {}) {
  const partner = "'biz_00000000000000000000000'";
  const claim = `INSERT INTO user_ids (user_id, biz_id, region) VALUES (md5(:id::text), ${partner}, '${REGION}')
  ON CONFLICT DO NOTHING RETURNING user_id, biz_id, region;`;
  const user = `INSERT INTO users (user_id, biz_id, region, bucket, salt, created)
  VALUES (md5(:id::text), ${partner}, '${REGION}', 'keyroot-bench-${REGION}-' || md5(:id::text), md5(:salt::text), 1800000000000)
  ON CONFLICT DO NOTHING RETURNING user_id, biz_id, region, bucket, salt, created`;
  const data = `'{"region": "${REGION}"}'::jsonb`;
  const id = "'00000000-0000-4000-8000-000000000000'";
  const recorded = `WITH inserted AS (${user}), entry AS (
  INSERT INTO audit_entries (biz_id, user_id, data, at, action, actor_kind, actor_id, actor_token, request_id, address)
  SELECT biz_id, user_id, ${data}, created, 'user.created', 'partner', ${id}, ${id}, ${id}, '127.0.0.1' FROM inserted), event AS (
  INSERT INTO events (biz_id, user_id, data, at, type) SELECT biz_id, user_id, ${data}, created, 'user.created' FROM inserted)
SELECT * FROM inserted`;
  const inserts = `${claim}\n${withoutRecords ? user : recorded};`;
  const script = `\\set id random(1, 9223372036854775807)
\\set salt random(1, 9223372036854775807)
${oneCommit ? `BEGIN;\n${inserts}\nCOMMIT;` : inserts}
`;
  return { perSecond: await pgbench({ url: databaseUrl, script, clients, seconds: SECONDS }) };
}

/**
 * Waits until PostgreSQL has finished the background work of earlier rounds. With millions of rows, checkpoints and
 * autovacuum use up to one core of two, which would slow down the next round.
 */
async function vacuumAndCheckpoint(): Promise<void> {
  for (const statement of ["VACUUM (ANALYZE)", "CHECKPOINT"]) await runAt(databaseUrl, statement);
}

async function measure({ origin, requests, cpu }: Contender, connections: number, seconds = SECONDS) {
  const before = await cpu();
  const measured = await load.send({ origin, requests: [requests], connections, seconds });
  const used = (await cpu()) - before;
  throwOnErrors(measured);
  const { perSecond, p50, p99, loadCores } = measured;
  return { perSecond, p50, p99, serverMicros: Math.round(used / (perSecond * seconds)), loadCores };
}

/** Measures an operation at each rate. PostgreSQL finishes its background work before each measurement. */
async function atFixedRates(operation: string, contender: Contender, rates: readonly number[]) {
  const runs: OpenLoop[] = [];
  for (const rate of rates) {
    await vacuumAndCheckpoint();
    process.stderr.write(`${operation}, ${rate} per second\n`);
    runs.push({ operation, ...(await openLoop(contender, rate)) });
  }
  return runs;
}

async function openLoop({ origin, requests, cpu }: Contender, rate: number) {
  const plan = { origin, requests: [requests], connections: CONNECTIONS, seconds: OPEN_LOOP_SECONDS, rate };
  const before = { machine: machineTimes(), service: await cpu(), background: await background() };
  const measured = await load.send(plan);
  const { busy, stolen, total } = subtract(machineTimes(), before.machine);
  const cores = cpus().length;
  return {
    rate,
    ...measured,
    serviceCores: round(((await cpu()) - before.service) / 1e6 / OPEN_LOOP_SECONDS),
    busyCores: round((busy / total) * cores),
    stolen: round(stolen / total),
    background: subtract(await background(), before.background),
  };
}

/** Counts PostgreSQL's automatic vacuum and analyze runs, and PostgreSQL's completed checkpoints. */
async function background(): Promise<Figures> {
  const statement = `SELECT sum(autovacuum_count) AS autovacuums, sum(autoanalyze_count) AS autoanalyzes,
    (SELECT num_timed + num_requested FROM pg_stat_checkpointer) AS checkpoints FROM pg_stat_user_tables`;
  const [counts = {}] = await runAt<Record<string, string>>(databaseUrl, statement);
  return mapValues(counts, Number);
}

/** Reads Linux's processor times of all cores, in ticks (proc_stat(5)). */
function machineTimes() {
  const [, ...ticks] = readFileSync("/proc/stat", "utf8").split("\n", 1)[0]?.split(/ +/).map(Number) ?? [];
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, stolen = 0] = ticks;
  const busy = user + nice + system + irq + softirq;
  return { busy, stolen, total: busy + stolen + idle + iowait };
}

function subtract<Name extends string>(after: Record<Name, number>, before: Record<Name, number>) {
  return mapValues(after, (value, name) => value - before[name]);
}

function throwOnErrors({ errors }: Measured): void {
  if (Object.keys(errors).length > 0) throw new Error(`There were errors: ${JSON.stringify(errors)}.`);
}

type Figures = Record<string, number>;
type Rounds<Name extends string> = Record<number, Record<Name, Figures[]>>;

/**
 * Measures everything in alternating rounds for each number of clients, so that other load affects all measurements
 * equally.
 */
async function inRounds<Name extends string>(
  clients: number[],
  measuresOf: (clients: number) => Record<Name, () => Promise<Figures>>,
): Promise<Rounds<Name>> {
  const all: Rounds<Name> = {};
  for (const some of clients) {
    const measures = measuresOf(some);
    const results = mapValues(measures, (): Figures[] => []);
    for (let round = 0; round < ROUNDS; round++) {
      for (const name in measures) {
        process.stderr.write(`${name}, ${some} clients, round ${round + 1} of ${ROUNDS}\n`);
        results[name].push(await measures[name]());
      }
    }
    all[some] = results;
  }
  return all;
}

function summary<Name extends string>(rounds: Rounds<Name>): Record<number, Record<Name, Figures>> {
  return mapValues(rounds, (results) => mapValues(results, medians));
}

function medians(all: Figures[]): Figures {
  return mapValues(all[0] ?? {}, (_, name) => median(all.map((figures) => figures[name] ?? NaN)));
}

function mapValues<Key extends PropertyKey, In, Out>(
  object: Record<Key, In>,
  change: (value: In, key: Key) => Out,
): Record<Key, Out> {
  const entries = (Object.entries(object) as [Key, In][]).map(([key, value]) => [key, change(value, key)]);
  return Object.fromEntries(entries) as Record<Key, Out>;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
