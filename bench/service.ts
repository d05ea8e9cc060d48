/**
 * Measures the partner service under load, in comparison over the same PostgreSQL in the same run: its token exchange with the
 * refresh grant of oidc-provider, its creation of users with pgbench and the same inserts. Then both at a fixed rate below the
 * peak.
 */
import { randomBytes } from "node:crypto";
import { cpus } from "node:os";
import pMap from "p-map";
import { startPostgres } from "../fixtures/postgres/postgres.ts";
import { startChild } from "../fixtures/childProcess.ts";
import { createPartner, post, serviceEnvironment, startServiceProcess } from "../fixtures/service/serviceProcess.ts";
import { type Measured, type Plan, RANDOM_USER_ID, type Requests } from "./service/load.ts";
import type { OidcRequest, StartedOidcProvider } from "./service/oidcProvider.ts";
import { pgbench, pgbenchVersion } from "./service/pgbench.ts";
import { measuredOf } from "./service/measured.ts";
import { report, SMALL } from "./runner/report.ts";

const QUICK = SMALL;
const ROUNDS = QUICK ? 1 : 5;
const SECONDS = QUICK ? 1 : 4;
const OPEN_LOOP_SECONDS = QUICK ? 1 : 60;
const TOKENS = QUICK ? 64 : 10_000;
/** Numbers of concurrent clients. The claims are about the middle one. */
const CLIENTS = QUICK ? [32] : [10, 32, 64];
const CLAIM = 32;
const SHARE_OF_PEAK = 0.7;
/** Connections to the database: as many as clients, so that no client waits for one. */
const CONNECTIONS = 64;
const REGION = "us-west-2";

/** A server to send requests to. */
interface Contender {
  origin: string;
  requests: Requests;
  /** Returns the processor time that its process has used, in µs. */
  cpu: () => Promise<number>;
}

await using cleanup = new AsyncDisposableStack();
const postgres = await startPostgres({
  fsync: true,
  settings: { shared_buffers: "512MB", max_wal_size: "4GB", max_connections: 300 },
});
cleanup.defer(() => postgres.stop());
const environment = await serviceEnvironment(postgres, CONNECTIONS);
const { DATABASE_URL: databaseUrl } = environment;
const load = cleanup.use(startChild<Plan, Measured>(new URL("service/load.ts", import.meta.url)));

const keyroot = await startKeyroot();
const oidc = await startOidcProvider();
const contenders = { keyroot: keyroot.exchange, oidcProviderJwt: oidc.jwt, oidcProviderOpaque: oidc.opaque };
for (const contender of Object.values(contenders)) await measure(contender, CLAIM, QUICK ? 1 : 2);

const exchange = summary(
  await inRounds(CLIENTS, (clients) => mapValues(contenders, (contender) => () => measure(contender, clients))),
);
const creation = summary(
  await inRounds(CLIENTS, (clients) => ({
    keyroot: () => measure(keyroot.creation, clients),
    pgbench: () => sameInserts(clients, "each committed by itself"),
    pgbenchOneCommit: () => sameInserts(clients, "committed together"),
  })),
);
const peak = { exchange: exchange[CLAIM]?.keyroot, creation: creation[CLAIM]?.keyroot };
const openLoops = {
  exchange: await openLoop(keyroot.exchange, peak.exchange),
  creation: await openLoop(keyroot.creation, peak.creation),
};
const figures = {
  machine: `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} cores, Node ${process.version}`,
  database: `${postgres.version}, fsync on, at most ${CONNECTIONS} connections to each server; ${pgbenchVersion()}`,
  command: "npm run bench:service",
  claims: {
    what: `with ${CLAIM} clients: exchange, relative to oidc-provider, both with JWTs signed by Ed25519; creation, relative to pgbench`,
    exchangeTimes: { measured: times(exchange, "oidcProviderJwt"), goal: 3 },
    creationTimes: { measured: times(creation, "pgbench"), goal: 0.5 },
    openLoopErrors: {
      measured: Object.values(openLoops)
        .flatMap(({ errors }) => Object.values(errors))
        .reduce((a, b) => a + b, 0),
      goal: 0,
    },
  },
  closedLoop: {
    what: `by number of clients: median of ${ROUNDS} alternating rounds of ${SECONDS} s; requests per second, ms per response, µs of the server's processor time per request, share of a core that the load used`,
    exchange,
    creation,
  },
  openLoop: {
    what: `requests at ${SHARE_OF_PEAK * 100} % of the peak rate for ${OPEN_LOOP_SECONDS} s; ms from when a request was due`,
    ...openLoops,
  },
};
report(measuredOf(figures));

/** Starts the service, with a partner and users who have a refresh token each. */
async function startKeyroot(): Promise<{ exchange: Contender; creation: Contender }> {
  const service = cleanup.use(await startServiceProcess(environment));
  const { origin } = service;
  const cpu = () => service.cpu();
  const { bizID: biz_id, accessToken } = await createPartner(origin, environment.KEYROOT_ADMIN_TOKEN);
  const exchangeOfOne = async () => {
    const user_id_hex = randomBytes(20).toString("hex");
    await post(`${origin}/v1/authdBizSrv/users/create`, { user_id_hex, region: REGION }, { accessToken });
    const user = { user_id_hex, context: "phone" };
    const created = await post(`${origin}/v1/authdBizSrv/users/createRefreshToken`, user, { accessToken });
    return JSON.stringify({ biz_id, token: created.body["token"] });
  };
  const bodies = await pMap(Array.from({ length: TOKENS }), exchangeOfOne, { concurrency: CLAIM });
  const headers = { "content-type": "application/json" };
  const creation = JSON.stringify({ user_id_hex: RANDOM_USER_ID, region: REGION });
  return {
    exchange: { origin, cpu, requests: { path: "/v1/public/auth/jwt", headers, bodies, status: 200 } },
    creation: {
      origin,
      cpu,
      requests: {
        path: "/v1/authdBizSrv/users/create",
        headers: { ...headers, authorization: `Bearer ${accessToken}` },
        bodies: [creation],
        status: 201,
      },
    },
  };
}

/** Starts oidc-provider, with the same number of refresh tokens for each form of access tokens. */
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

/** Runs the two inserts of a user's creation in pgbench, with the same columns, indexes and results. */
async function sameInserts(clients: number, commits: "each committed by itself" | "committed together") {
  const inserts = `
INSERT INTO user_ids (user_id, biz_id, region) VALUES (md5(:id::text), 'biz_00000000000000000000000', '${REGION}')
  ON CONFLICT DO NOTHING RETURNING user_id, biz_id, region;
INSERT INTO users (user_id, biz_id, region, bucket, salt, created)
  VALUES (md5(:id::text), 'biz_00000000000000000000000', '${REGION}', 'keyroot-bench-${REGION}-' || md5(:id::text), md5(:salt::text), 1800000000000)
  ON CONFLICT DO NOTHING RETURNING user_id, biz_id, region, bucket, salt, created;`;
  const script = `\\set id random(1, 9223372036854775807)
\\set salt random(1, 9223372036854775807)
${commits === "committed together" ? `BEGIN;${inserts}\nCOMMIT;` : inserts}
`;
  return { perSecond: await pgbench({ url: databaseUrl, script, clients, seconds: SECONDS }) };
}

async function measure({ origin, requests, cpu }: Contender, connections: number, seconds = SECONDS) {
  const before = await cpu();
  const measured = await load.send({ origin, requests: [requests], connections, seconds });
  const used = (await cpu()) - before;
  throwOnErrors(measured);
  const { perSecond, p50, p99, loadCores } = measured;
  return { perSecond, p50, p99, serverMicros: Math.round(used / (perSecond * seconds)), loadCores };
}

async function openLoop({ origin, requests }: Contender, peak: Figures = {}) {
  const rate = Math.floor((peak["perSecond"] ?? NaN) * SHARE_OF_PEAK);
  const plan = { origin, requests: [requests], connections: CONNECTIONS, seconds: OPEN_LOOP_SECONDS, rate };
  return { rate, ...(await load.send(plan)) };
}

function throwOnErrors({ errors }: Measured): void {
  if (Object.keys(errors).length > 0) throw new Error(`There were errors: ${JSON.stringify(errors)}.`);
}

type Figures = Record<string, number>;
type Rounds<Name extends string> = Record<number, Record<Name, Figures[]>>;

/** Measures everything in alternating rounds, for each number of clients, so that other load of the machine affects all alike. */
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
  return mapValues(all[0] ?? {}, (_, name) => {
    const sorted = all.map((figures) => figures[name] ?? NaN).sort((a, b) => a - b);
    return sorted[sorted.length >> 1] ?? NaN;
  });
}

/** How many times as fast Keyroot is as the other one. */
function times<Name extends string>(all: Record<number, Record<Name | "keyroot", Figures>>, other: Name): number {
  const perSecond = (name: Name | "keyroot") => all[CLAIM]?.[name]["perSecond"] ?? NaN;
  return round(perSecond("keyroot") / perSecond(other));
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
