/**
 * Measures whether the partner service becomes slower with more users in its database. It runs each operation over a
 * database with few users and over databases with many.
 *
 * The smallest database has only the users of the load and 10,000 users with pending keys. In the larger ones, all keys
 * are published except those of 10,000 users.
 *
 * `node bench/serviceSize.ts 50000 200000` measures these numbers of users instead of 1 and 10 million, in fewer
 * rounds.
 */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { totalmem } from "node:os";
import { countPublishable, openDatabases, takePublishable } from "@keyroot/service";
import { generateKeyPair, REGIONS } from "keyroot/internal/identity";
import pMap from "p-map";
import { startChild } from "../test/support/processes/childProcess.ts";
import { runAt, startPostgres } from "../test/support/postgres/postgres.ts";
import { answerChallenge, keyFieldsOf } from "../test/support/service/answerChallenge.ts";
import { serviceEnvironment, startServiceProcess } from "../test/support/service/serviceProcess.ts";
import { Caller, post } from "../test/support/service/caller.ts";
import { fillDatabase, PENDING, readIntoMemory, type Relation, sizesOf } from "./service/fillDatabase.ts";
import { type Measured, type Plan, RANDOM_USER_ID, type Requests } from "./service/load.ts";
import { measureMaintenance } from "./service/maintenance.ts";
import { median, progress, report, round, type Row, SMALL } from "./runner/report.ts";

const NUMBERS = SMALL ? [PENDING + 1000] : process.argv.slice(2).map(Number);
const SIZES = [PENDING, ...(NUMBERS.length > 0 ? NUMBERS : [1_000_000, 10_000_000])];
/**
 * The number of rounds, and the length of a round in seconds. Many short rounds are better than a few long ones,
 * because a disturbance then affects only one round and not the median.
 */
const [ROUNDS, SECONDS] = SMALL ? [1, 0.1] : [NUMBERS.length > 0 ? 3 : 9, 1];
const GOAL = 1.3;
const CLIENTS = 8;
const CONNECTIONS = 16;
const USERS_PER_LIST = SMALL ? 20 : 100;
/** The number of users in the load, each of whom registers one key in one of the rounds. */
const USERS = ROUNDS * USERS_PER_LIST;
const REGION = "us-west-2";
/** The settings that docs/scaling.md recommends for millions of users. */
const SETTINGS = {
  shared_buffers: SMALL ? "128MB" : `${Math.max(1, Math.floor((totalmem() * 0.4) / 2 ** 30))}GB`,
  max_wal_size: "16GB",
  checkpoint_timeout: "30min",
  random_page_cost: 1.1,
  autovacuum_vacuum_scale_factor: 0.02,
  autovacuum_vacuum_insert_scale_factor: 0.02,
  autovacuum_analyze_scale_factor: 0.01,
  autovacuum_vacuum_cost_limit: 2000,
};
const JSON_TYPE = { "content-type": "application/json" };

/** Repeats an operation for some seconds. @returns the number of repetitions per second */
type Operation = (round: number) => Promise<number>;

await using cleanup = new AsyncDisposableStack();
const postgres = await startPostgres({ fsync: true, settings: SETTINGS });
cleanup.defer(() => postgres.stop());
const load = cleanup.use(startChild<Plan, Measured>(new URL("service/load.ts", import.meta.url)));

const fillSeconds: Record<number, number> = {};
const sizes: Record<number, Relation[]> = {};
const urls: string[] = [];
const operations: Record<number, Record<string, Operation>> = {};
for (const users of SIZES) operations[users] = await prepare(users);
// Read the indexes after all databases are filled. Filling one database displaces the other databases from memory.
for (const url of urls) await readIntoMemory(url);

const rounds: Record<string, Record<number, number>[]> = {};
for (const name of Object.keys(operations[PENDING] ?? {})) {
  for (let round = 0; round < ROUNDS; round++) {
    const perSecond: Record<number, number> = {};
    // Measure the databases in alternating order, so that other load affects all databases equally.
    for (const users of round % 2 === 0 ? SIZES : SIZES.toReversed())
      perSecond[users] = (await operations[users]?.[name]?.(round)) ?? NaN;
    (rounds[name] ??= []).push(perSecond);
  }
  progress(name);
}

const maintenance: Row[] = [];
for (const [i, users] of SIZES.entries())
  for (const { task, seconds } of await measureMaintenance(urls[i] ?? "")) maintenance.push({ users, task, seconds });

const speed = Object.entries(rounds).flatMap(([operation, all]) =>
  SIZES.map((users) => ({
    ...{ operation, users },
    perSecond: round(median(all.map((rates) => rates[users] ?? NaN))),
    timesSlower: round(median(all.map((rates) => (rates[PENDING] ?? NaN) / (rates[users] ?? NaN)))),
  })),
);
const worst = speed.reduce((a, b) => (b.timesSlower > a.timesSlower ? b : a));
report({
  figures: {
    speed: {
      what: `${CLIENTS} clients, requests per second (of publishing: calls), median of ${ROUNDS} alternating rounds of ${SECONDS} s; timesSlower: median of the ratios of each round`,
      rows: speed,
    },
    fill: {
      what: `s to fill the database; ${postgres.version}, fsync on, ${Object.entries(SETTINGS)
        .map(([name, value]) => `${name} = ${value}`)
        .join(", ")}`,
      rows: SIZES.map((users) => ({ users, seconds: fillSeconds[users] ?? NaN })),
    },
    maintenance: { what: "s of migrations and cleaning jobs, without other load", rows: maintenance },
    sizes: {
      what: "MiB of each table and index",
      rows: SIZES.flatMap((users) =>
        (sizes[users] ?? []).map(({ name, table, bytes }) => {
          return { users, name, ofTable: table ?? name, mebibytes: round(bytes / 2 ** 20) };
        }),
      ),
    },
  },
  ratios: [
    {
      what: `the operation that becomes slowest with users (${worst.operation}, ${worst.users.toLocaleString("en")} users), relative to ${PENDING.toLocaleString("en")} users`,
      ...{ value: worst.timesSlower, atMost: GOAL },
    },
  ],
});

/** Prepares a database with this number of users, starts a service on it, and returns the operations to measure. */
async function prepare(users: number): Promise<Record<string, Operation>> {
  progress(`filling a database with ${users} users`);
  const environment = await serviceEnvironment(postgres, CONNECTIONS);
  const { DATABASE_URL: url, KEYROOT_ADMIN_TOKEN: adminToken } = environment;
  const service = cleanup.use(await startServiceProcess(environment));
  const { origin } = service;
  const { bizID, jwt: accessToken } = await new Caller(adminToken, origin).createPartner();
  const started = performance.now();
  await fillDatabase(url, bizID, users);
  fillSeconds[users] = Math.round((performance.now() - started) / 1000);
  sizes[users] = await sizesOf(url);
  urls.push(url);

  const all = await createUsers(origin, bizID, accessToken);
  const cookie = await startSession(url, bizID);
  const keys = cleanup.use(await openDatabases({ url, connections: 2 }));
  const send =
    (...requests: Requests[]): Operation =>
    () =>
      measure({ origin, requests });
  const measure = async (plan: Pick<Plan, "origin" | "requests" | "most">) => {
    const { errors, perSecond } = await load.send({ connections: CLIENTS, seconds: SECONDS, ...plan });
    if (Object.keys(errors).length > 0) throw new Error(`${plan.requests[0]?.path} failed: ${JSON.stringify(errors)}`);
    return perSecond;
  };

  const partner = (path: string, bodies: object[], status = 200): Requests => ({
    path: `/v1/authdBizSrv/${path}`,
    headers: { ...JSON_TYPE, authorization: `Bearer ${accessToken}` },
    bodies: bodies.map((body) => JSON.stringify(body)),
    status,
  });
  const operator = (path: string, body: object): Requests => ({
    path: `/v1/admin/${path}`,
    headers: { ...JSON_TYPE, authorization: `Bearer ${adminToken}` },
    bodies: [JSON.stringify(body)],
    status: 200,
  });
  const page = (path: string, bodies: object[]): Requests => ({
    path: `/v1/${path}`,
    headers: { ...JSON_TYPE, origin: new URL(environment.KEYROOT_SERVICE_URL).origin, cookie },
    bodies: bodies.map((body) => JSON.stringify(body)),
    status: 200,
  });
  const user = (path: string, some: typeof all, body: object): Requests[] =>
    some.map(({ jwt }) => ({
      path: `/v1/authdUser/${path}`,
      headers: { ...JSON_TYPE, authorization: `Bearer ${jwt}` },
      bodies: [JSON.stringify(body)],
      status: 200,
    }));
  const newUsers = Array.from({ length: 100 }, () => ({
    user_id_hex: RANDOM_USER_ID,
    region: REGION,
    context: "phone",
  }));
  const ids = all.map(({ user_id_hex }) => ({ user_id_hex }));
  const pair = generateKeyPair();
  const key = keyFieldsOf(pair);
  return {
    "exchange a token": send({
      path: "/v1/public/auth/jwt",
      headers: JSON_TYPE,
      bodies: all.map(({ token }) => JSON.stringify({ biz_id: bizID, token })),
      status: 200,
    }),
    "create a user": send(partner("users/create", [{ user_id_hex: RANDOM_USER_ID, region: REGION }], 201)),
    "create 100 users with tokens": send(partner("users/createMany", [{ users: newUsers }])),
    "create a user's token": send(
      partner(
        "users/createRefreshToken",
        ids.map((id) => ({ ...id, context: "laptop" })),
      ),
    ),
    "get a user": send(partner("users/get", ids)),
    "list 100 users": send(
      partner(
        "users/list",
        all.map(({ user_id }) => ({ after: user_id })),
      ),
    ),
    "list a user's tokens": send(partner("users/listRefreshTokens", ids)),
    "request a challenge for a key": send(...user("publicKey/challenge", all, key)),
    "register a key": async (round) => {
      const some = all.slice(round * USERS_PER_LIST, (round + 1) * USERS_PER_LIST);
      const requests: Requests[] = [];
      for (const one of some) {
        const { body } = await post(`${origin}/v1/authdUser/publicKey/challenge`, key, { token: one.jwt });
        requests.push(...user("publicKey/register", [one], answerChallenge(body, pair)));
      }
      return measure({ origin, requests, most: some.length });
    },
    "get the own record": send(...user("record/get", all, {})),
    "get a user's key": send(partner("publicKeys/get", ids)),
    "list 100 events": send(partner("events/list", [{}])),
    "list 100 audit entries": send(partner("audit/list", [{}])),
    "list a user's audit entries": send(partner("audit/list", ids)),
    "dashboard: find a user": send(page("dashboard/users/get", ids)),
    "dashboard: list 100 users": send(page("dashboard/users/list", [{}])),
    "dashboard: list 100 pending keys": send(page("dashboard/users/list", [{ state: "ready" }])),
    "dashboard: publishing": send(page("dashboard/publishing/get", [{}])),
    "operator: search partners": send(operator("partners/list", { search: "test" })),
    "publishing: count the pending keys": repeat(async () => {
      await countPublishable(keys);
    }),
    "publishing: read the pending keys": repeat(async () => {
      for (const region of REGIONS) await takePublishable(keys, region);
    }),
  };
}

/** Creates users with a refresh token and an access token each. */
async function createUsers(origin: string, biz_id: string, accessToken: string) {
  const created: { user_id: string; token: string; user_id_hex: string }[] = [];
  while (created.length < USERS) {
    const users = Array.from({ length: USERS_PER_LIST }, () => ({
      ...{ user_id_hex: randomBytes(20).toString("hex"), region: REGION, context: "phone" },
    }));
    const { body } = await post(`${origin}/v1/authdBizSrv/users/createMany`, { users }, { token: accessToken });
    const results = body["users"] as { user_id: string; token: string }[];
    results.forEach(({ user_id, token }, i) =>
      created.push({ user_id, token, user_id_hex: users[i]?.user_id_hex ?? "" }),
    );
  }
  return pMap(
    created,
    async (user) => {
      const { body } = await post(`${origin}/v1/public/auth/jwt`, { biz_id, token: user.token });
      return { ...user, jwt: String(body["jwt"]) };
    },
    { concurrency: CLIENTS },
  );
}

/** Starts a session for an administrator of the partner. @returns the session's cookie */
async function startSession(url: string, bizID: string): Promise<string> {
  const value = randomBytes(32).toString("base64url");
  const hash = createHash("sha256").update(value).digest("hex");
  const person = randomUUID();
  const now = Date.now();
  await runAt(
    url,
    `INSERT INTO staff (person_id, biz_id, name, role, created) VALUES ('${person}', '${bizID}', 'Ada', 'administrator', ${now});
    INSERT INTO passkeys (credential_id, person_id, public_key, counter, transports, created) VALUES ('${person}', '${person}', '', 0, '', ${now});
    INSERT INTO sessions (session_hash, person_id, created, last_used) VALUES ('${hash}', '${person}', ${now}, ${now})`,
  );
  return `__Host-keyroot=${value}`;
}

/** Calls `work` repeatedly, one call at a time. */
function repeat(work: () => Promise<void>): Operation {
  return async () => {
    const started = performance.now();
    let calls = 0;
    let elapsed = 0;
    while (elapsed < SECONDS) {
      await work();
      calls++;
      elapsed = (performance.now() - started) / 1000;
    }
    return calls / elapsed;
  };
}
