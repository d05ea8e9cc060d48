/**
 * The partner service under load, beside two others over the same PostgreSQL in the same run: its token exchange beside
 * the refresh grant of oidc-provider, its creation of users beside pgbench doing the same inserts. Then both at a fixed
 * rate below the peak.
 *
 * `npm run bench:service` prints and records the figures in bench/service.json; `-- --quick` prints those of a short run.
 */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import pMap from "p-map";
import { startPostgres } from "../fixtures/postgres/postgres.ts";
import { startChild } from "../fixtures/childProcess.ts";
import { keyrootSettings, makePartner, post, startKeyroot } from "../fixtures/service/serviceProcess.ts";
import { type Measured, type Plan, RANDOM_USER_ID, type Requests } from "./service/load.ts";
import type { OidcOrder, OidcReady } from "./service/oidcProvider.ts";
import { pgbench, pgbenchVersion } from "./service/pgbench.ts";

const QUICK = process.argv.includes("--quick");
const ROUNDS = QUICK ? 1 : 5;
const SECONDS = QUICK ? 2 : 4;
const OPEN_LOOP_SECONDS = QUICK ? 5 : 60;
const TOKENS = QUICK ? 200 : 10_000;
/** How many clients at once; the claims are about the one in the middle. */
const CLIENTS = QUICK ? [32] : [10, 32, 64];
const CLAIM = 32;
const SHARE_OF_PEAK = 0.7;
/** Connections to the database: no client ever waits for one. */
const CONNECTIONS = 64;
const REGION = "us-west-2";

/** A server to send requests to. */
interface Contender {
  origin: string;
  requests: Requests;
  /** What its process has spent so far, in µs. */
  cpu: () => Promise<number>;
}

await using cleanup = new AsyncDisposableStack();
const postgres = await startPostgres({
  fsync: true,
  settings: { shared_buffers: "512MB", max_wal_size: "4GB", max_connections: 300 },
});
cleanup.defer(() => postgres.stop());
const settings = await keyrootSettings(postgres, CONNECTIONS);
const { DATABASE_URL: databaseUrl } = settings;
const load = cleanup.use(startChild<Plan, Measured>(new URL("service/load.ts", import.meta.url)));

const keyroot = await startOurs();
const oidc = await startOidcProvider();
const contenders = { keyroot: keyroot.exchange, oidcProviderJwt: oidc.jwt, oidcProviderOpaque: oidc.opaque };
for (const contender of Object.values(contenders)) await measure(contender, CLAIM, 2);

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
    what: `of ${CLAIM} clients, exchange beside oidc-provider's, both with JWTs signed by Ed25519`,
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
    what: `by number of clients: median of ${ROUNDS} rounds of ${SECONDS} s each, by turns; requests a second, ms until the answer, µs of processor that the server took a request, share of a core that the load took`,
    exchange,
    creation,
  },
  openLoop: {
    what: `requests due at ${SHARE_OF_PEAK * 100} % of the peak for ${OPEN_LOOP_SECONDS} s; ms from when one was due`,
    ...openLoops,
  },
};
process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
if (!QUICK) writeFileSync(new URL("service.json", import.meta.url), `${JSON.stringify(figures, null, 2)}\n`);

/** The service, with a partner, and users who each have a refresh token. */
async function startOurs(): Promise<{ exchange: Contender; creation: Contender }> {
  const service = cleanup.use(await startKeyroot(settings));
  const { origin } = service;
  const cpu = () => service.cpu();
  const { bizID: biz_id, jwt: bearer } = await makePartner(origin, settings.KEYROOT_ADMIN_TOKEN);
  const exchangeOfOne = async () => {
    const user_id_hex = randomBytes(20).toString("hex");
    await post(`${origin}/v1/authdBizSrv/users/create`, { user_id_hex, region: REGION }, { bearer });
    const user = { user_id_hex, context: "phone" };
    const made = await post(`${origin}/v1/authdBizSrv/users/createRefreshToken`, user, { bearer });
    return JSON.stringify({ biz_id, token: made.body["token"] });
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
        headers: { ...headers, authorization: `Bearer ${bearer}` },
        bodies: [creation],
        status: 201,
      },
    },
  };
}

/** oidc-provider, with as many refresh tokens of each form. */
async function startOidcProvider(): Promise<{ jwt: Contender; opaque: Contender }> {
  const child = cleanup.use(
    startChild<OidcOrder | { cpu: true }, unknown>(new URL("service/oidcProvider.ts", import.meta.url)),
  );
  const ready = await child.ask({ databaseUrl, connections: CONNECTIONS, tokens: TOKENS });
  const { origin, forms } = ready as OidcReady;
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const cpu = async () => (await child.ask({ cpu: true })) as number;
  return mapValues(forms, (bodies) => ({ origin, cpu, requests: { path: "/token", headers, bodies, status: 200 } }));
}

/** What pgbench does: the two inserts of a user's creation, with the same columns, indexes and answers. */
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
  const measured = await load.ask({ origin, requests: [requests], connections, seconds });
  const spent = (await cpu()) - before;
  refuseErrors(measured);
  const { perSecond, p50, p99, loadCores } = measured;
  return { perSecond, p50, p99, serverMicros: Math.round(spent / (perSecond * seconds)), loadCores };
}

async function openLoop({ origin, requests }: Contender, peak: Figures = {}) {
  const rate = Math.floor((peak["perSecond"] ?? NaN) * SHARE_OF_PEAK);
  const plan = { origin, requests: [requests], connections: CONNECTIONS, seconds: OPEN_LOOP_SECONDS, rate };
  return { rate, ...(await load.ask(plan)) };
}

function refuseErrors({ errors }: Measured): void {
  if (Object.keys(errors).length > 0) throw new Error(`There were errors: ${JSON.stringify(errors)}.`);
}

type Figures = Record<string, number>;
type Rounds<Name extends string> = Record<number, Record<Name, Figures[]>>;

/** For each number of clients, each measure as often as there are rounds, always by turns: whatever else the machine does befalls all alike. */
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

/** How often Keyroot did it while the other one did it once. */
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
