/**
 * Measures what registrations that are refused cost other partners: the response times of one partner's users, alone and while
 * three users of another partner send as many registrations as the rate limit allows. Every registration needs curve
 * arithmetic before it can be refused.
 */
import { randomBytes } from "node:crypto";
import { startChild } from "../fixtures/childProcess.ts";
import { add, encode, multiply, BASE, pointsOfSmallOrder, type Point } from "../fixtures/curve41417.ts";
import { startPostgres } from "../fixtures/postgres/postgres.ts";
import { keyFieldsOf } from "../fixtures/service/answerChallenge.ts";
import { createPartner, post, serviceEnvironment, startServiceProcess } from "../fixtures/service/serviceProcess.ts";
import { generateKeyPair } from "keyroot/identity";
import type { Measured, Plan } from "./service/load.ts";
import { report, round, SMALL } from "./runner/report.ts";

const QUICK = SMALL;
const ROUNDS = QUICK ? 1 : 3;
const SECONDS = QUICK ? 1 : 30;
/** Requests per second of the other partner's users: far below what the service can do. */
const RATE = SMALL ? 20 : 100;
const FLOODERS = 3;
/** Requests per second of each user who floods: the default rate limit. */
const FLOOD_RATE = SMALL ? 10 : 100;
const CONNECTIONS = 16;

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
const floods = { challenges: "/v1/authdUser/publicKey/challenge", registrations: "/v1/authdUser/publicKey/register" };

const rounds: Record<string, Measured[]> = {};
const measureVictim = async (name: string) => {
  process.stderr.write(`${name}\n`);
  const measured = await victimsLoad.send(victimPlan(RATE, SECONDS));
  if (Object.keys(measured.errors).length > 0)
    throw new Error(`There were errors: ${JSON.stringify(measured.errors)}.`);
  (rounds[name] ??= []).push(measured);
};
// The first curve arithmetic starts threads.
await floodLoad.send(floodPlan(floods.challenges, 1));
for (let round = 0; round < ROUNDS; round++) {
  await measureVictim("alone");
  for (const [name, path] of Object.entries(floods)) {
    const flood = floodLoad.send(floodPlan(path, SECONDS));
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
      what: `${RATE} requests per second of one partner's user (record/get, users/get), ms per response, median of ${ROUNDS} rounds of ${SECONDS} s; meanwhile ${FLOODERS} users of another partner send ${FLOOD_RATE} registrations per second each`,
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

/** A user with access tokens: the own and the partner's. @param ofPartner the partner; default a new one */
async function createUser(ofPartner?: Awaited<ReturnType<typeof createPartner>>) {
  const { origin } = service;
  const partner = ofPartner ?? (await createPartner(origin, environment.KEYROOT_ADMIN_TOKEN));
  const { bizID, accessToken } = partner;
  const user_id_hex = randomBytes(20).toString("hex");
  await post(`${origin}/v1/authdBizSrv/users/create`, { user_id_hex, region: "us-west-2" }, { accessToken });
  const context = { user_id_hex, context: "phone" };
  const { body } = await post(`${origin}/v1/authdBizSrv/users/createRefreshToken`, context, { accessToken });
  const exchanged = await post(`${origin}/v1/public/auth/jwt`, { biz_id: bizID, token: body["token"] });
  const attacker = ofPartner ?? (await createPartner(origin, environment.KEYROOT_ADMIN_TOKEN));
  return { user_id_hex, jwt: String(exchanged.body["jwt"]), partnersJwt: accessToken, attacker };
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

/** Keys that are refused only after curve arithmetic, and keys that are not refused. */
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

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}
