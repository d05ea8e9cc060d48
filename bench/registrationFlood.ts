/**
 * Measures how much the requests of one partner delay the users of another partner. It compares these users' response
 * times with and without a flood.
 *
 * In a flood, a partner sends as many requests as the rate limit allows. In some floods, its servers create users, list
 * users or list events. In others, three of its users send invalid registrations, which the service can reject only
 * after curve arithmetic.
 */
import { randomBytes } from "node:crypto";
import { startChild } from "../test/support/processes/childProcess.ts";
import { add, encode, multiply, BASE, pointsOfSmallOrder, type Point } from "../test/support/data/curve41417.ts";
import { startPostgres } from "../test/support/postgres/postgres.ts";
import { keyFieldsOf } from "../test/support/service/answerChallenge.ts";
import { serviceEnvironment, startServiceProcess } from "../test/support/service/serviceProcess.ts";
import { Caller, post, type TestPartner } from "../test/support/service/caller.ts";
import { generateKeyPair } from "keyroot/internal/identity";
import { type Measured, type Plan, RANDOM_USER_ID } from "./service/load.ts";
import { median, report, round, SMALL } from "./runner/report.ts";

const QUICK = SMALL;
const ROUNDS = QUICK ? 1 : 3;
const SECONDS = QUICK ? 1 : 30;
/** The requests per second of the measured partner's users, far below the service's capacity. */
const RATE = SMALL ? 20 : 100;
const FLOODERS = 3;
/** The requests per second of each user in the flood, which is the default rate limit. */
const FLOOD_RATE = SMALL ? 10 : 100;
const CONNECTIONS = 16;
/** The number of users or events per page. */
const PAGE = 100;

const json = { "content-type": "application/json" };

await using cleanup = new AsyncDisposableStack();
const postgres = await startPostgres({ fsync: true });
cleanup.defer(() => postgres.stop());
const environment = await serviceEnvironment(postgres, CONNECTIONS);
const service = cleanup.use(await startServiceProcess({ ...environment, KEYROOT_RATE_LIMIT: "6000" }));
const startLoad = () => cleanup.use(startChild<Plan, Measured>(new URL("service/load.ts", import.meta.url)));
const [victimsLoad, floodLoad] = [startLoad(), startLoad()];

const victim = await createUser();
const flooders = await Promise.all(Array.from({ length: FLOODERS }, () => createUser(victim.attacker)));
const floods: Record<string, (seconds: number) => Plan> = {
  challenges: (seconds) => floodPlan("/v1/authdUser/publicKey/challenge", seconds),
  registrations: (seconds) => floodPlan("/v1/authdUser/publicKey/register", seconds),
  creation: (seconds) => partnersFlood("users/create", { user_id_hex: RANDOM_USER_ID, region: "us-west-2" }, seconds),
  listing: (seconds) => partnersFlood("users/list", {}, seconds),
  events: (seconds) => partnersFlood("events/list", {}, seconds),
};
// Create enough users to fill a page of each list.
await createUsers(PAGE);

const rounds: Record<string, Measured[]> = {};
const measureVictim = async (name: string) => {
  process.stderr.write(`${name}\n`);
  const measured = await victimsLoad.send(victimPlan(RATE, SECONDS));
  if (Object.keys(measured.errors).length > 0)
    throw new Error(`There were errors: ${JSON.stringify(measured.errors)}.`);
  (rounds[name] ??= []).push(measured);
};
// Start the service's threads before the measurement, because they start only with the first curve arithmetic.
await floodLoad.send(floodPlan("/v1/authdUser/publicKey/challenge", 1));
for (let round = 0; round < ROUNDS; round++) {
  await measureVictim("alone");
  for (const [name, planOf] of Object.entries(floods)) {
    const flood = floodLoad.send(planOf(SECONDS));
    await measureVictim(name);
    await flood;
  }
}

const medians = Object.fromEntries(
  Object.entries(rounds).map(([name, all]) => [
    name,
    { p50: median(all.map(({ p50 }) => p50)), p99: median(all.map(({ p99 }) => p99)) },
  ]),
);
const alone = medians["alone"]?.p99 ?? NaN;
const worst = Math.max(...Object.keys(floods).map((name) => medians[name]?.p99 ?? NaN));
report({
  figures: {
    responses: {
      what: `${RATE} requests per second of one partner's user (record/get, users/get), ms per response, median of ${ROUNDS} rounds of ${SECONDS} s; meanwhile ${FLOODERS} users of another partner send ${FLOOD_RATE} challenges or registrations per second each, or its server creates users, lists ${PAGE} users or ${PAGE} events ${FLOOD_RATE} times per second`,
      rows: Object.entries(medians).map(([meanwhile, times]) => ({ meanwhile, ...times })),
    },
  },
  ratios: [
    {
      what: "99th percentile of the response times under the worse flood, relative to none",
      ...{ value: round(worst / alone), atMost: 3 },
    },
  ],
});

/** Returns the requests of the flooding partner's server. The service rejects requests above the limit. */
function partnersFlood(path: string, body: object, seconds: number): Plan {
  const headers = { ...json, authorization: `Bearer ${victim.attacker.jwt}` };
  const requests = [{ path: `/v1/authdBizSrv/${path}`, headers, bodies: [JSON.stringify(body)], status: 200 }];
  return { origin: service.origin, requests, connections: CONNECTIONS, seconds, rate: FLOOD_RATE };
}

async function createUsers(count: number): Promise<void> {
  const users = Array.from({ length: count }, () => ({
    ...{ user_id_hex: randomBytes(20).toString("hex"), region: "us-west-2" },
  }));
  await post(`${service.origin}/v1/authdBizSrv/users/createMany`, { users }, { token: victim.attacker.jwt });
}

/**
 * Creates a user, and a partner as the attacker.
 * @param ofPartner the partner of both the user and the attacker. Default: a new partner for each
 */
async function createUser(ofPartner?: TestPartner) {
  const caller = new Caller(environment.KEYROOT_ADMIN_TOKEN, service.origin);
  const partner = ofPartner ?? (await caller.createPartner());
  const { hex: user_id_hex, jwt } = await caller.createUser(partner);
  return { user_id_hex, jwt, partnersJwt: partner.jwt, attacker: ofPartner ?? (await caller.createPartner()) };
}

function victimPlan(rate: number, seconds: number): Plan {
  const ofUser = { ...json, authorization: `Bearer ${victim.jwt}` };
  const ofPartner = { ...json, authorization: `Bearer ${victim.partnersJwt}` };
  const requests = [
    { path: "/v1/authdUser/record/get", headers: ofUser, bodies: ["{}"], status: 200 },
    {
      ...{ path: "/v1/authdBizSrv/users/get", headers: ofPartner, status: 200 },
      bodies: [JSON.stringify({ user_id_hex: victim.user_id_hex })],
    },
  ];
  return { origin: service.origin, requests, connections: CONNECTIONS, seconds, rate };
}

/** Returns registrations with keys that are rejected only after curve arithmetic, and with keys that are accepted. */
function floodPlan(path: string, seconds: number): Plan {
  const [, ofOrderTwo] = pointsOfSmallOrder() as [Point, Point];
  const wrongSubgroup = Array.from({ length: 8 }, (_, i) => ({
    publicKey: encode(add(multiply(BigInt(i + 2), BASE), ofOrderTwo)),
  }));
  const bodies = [...wrongSubgroup, ...Array.from({ length: 8 }, generateKeyPair)].map((key) =>
    JSON.stringify(keyFieldsOf(key)),
  );
  const requests = flooders.map(({ jwt }) => ({
    ...{ path, headers: { ...json, authorization: `Bearer ${jwt}` }, bodies, status: 429 },
  }));
  const connections = CONNECTIONS;
  return { origin: service.origin, requests, connections, seconds, rate: FLOODERS * FLOOD_RATE };
}
