/**
 * Measures how long `provision` takes to create users with a refresh token each, in comparison with two requests per user
 * (`createUser` and `createRefreshToken`), over the same PostgreSQL in the same run.
 */
import { randomUUID } from "node:crypto";
import pMap from "p-map";
import { startPostgres } from "../fixtures/postgres/postgres.ts";
import { serviceEnvironment, startServiceProcess } from "../fixtures/service/serviceProcess.ts";
import { AdminClient } from "keyroot/admin";
import { randomUserID, REGIONS, type Region } from "keyroot/identity";
import { PartnerClient } from "keyroot/partner";
import { progress, report, round, SMALL } from "./runner/report.ts";

const USERS = SMALL ? 200 : 100_000;
/** With two requests per user, the rate does not depend on the number: so many are enough. */
const USERS_ONE_BY_ONE = SMALL ? 50 : 3_000;
/** Users at a time with two requests each: the default of `provision` before it sent lists, and more. */
const CLIENTS = [8, 32];
const CONNECTIONS = 32;
const CONTEXT = "first device";

await using cleanup = new AsyncDisposableStack();
const postgres = await startPostgres({ fsync: true, settings: { shared_buffers: "512MB", max_wal_size: "4GB" } });
cleanup.defer(() => postgres.stop());
const environment = await serviceEnvironment(postgres, CONNECTIONS);
const service = cleanup.use(await startServiceProcess(environment));
const admin = new AdminClient({ baseUrl: service.origin, adminToken: environment.KEYROOT_ADMIN_TOKEN });

const oneByOne = new Map<number, Figures>();
for (const concurrency of CLIENTS)
  oneByOne.set(
    concurrency,
    await measure(USERS_ONE_BY_ONE, `two requests per user, ${concurrency} users at a time`, async (partner, users) => {
      await pMap(
        users,
        async ({ userID, region }) => {
          await partner.createUser(userID, region);
          await partner.createRefreshToken(userID, CONTEXT, { idempotencyKey: randomUUID() });
        },
        { concurrency },
      );
    }),
  );
const runId = randomUUID();
const provision = async (partner: PartnerClient, users: Wanted[]) => {
  const tokens = new Set<string>();
  for await (const outcome of partner.provision(users, { runId, context: CONTEXT })) {
    if ("error" in outcome) throw outcome.error;
    tokens.add(outcome.token);
  }
  if (tokens.size !== USERS) throw new Error(`There are ${tokens.size} tokens for ${USERS} users.`);
};
let again: () => Promise<void> = () => Promise.resolve();
const inLists = await measure(USERS, "provision", async (partner, users) => {
  await provision(partner, users);
  again = () => provision(partner, users);
});
const repeated = await measure(USERS, "provision, the same run again", () => again());

report({
  figures: {
    provision: {
      what: `users with a refresh token each: ${USERS} by provision, ${USERS_ONE_BY_ONE} with two requests per user; µs of the service's processor time per user; ${postgres.version}, fsync on, all on this machine`,
      rows: [
        { by: "provision", ...inLists },
        { by: "provision, the same run again", ...repeated },
        ...[...oneByOne].map(([clients, figures]) => {
          return { by: `two requests per user, ${clients} users at a time`, ...figures };
        }),
      ],
    },
  },
  ratios: [...oneByOne].map(([clients, { perSecond }]) => ({
    what: `provision, relative to two requests per user, ${clients} users at a time`,
    ...{ value: round(inLists.perSecond / perSecond), atLeast: 5 },
  })),
});

interface Wanted {
  userID: string;
  region: Region;
}

interface Figures {
  seconds: number;
  perSecond: number;
  serviceMicros: number;
}

/** Creates `count` users for a new partner. */
async function measure(
  count: number,
  name: string,
  create: (partner: PartnerClient, users: Wanted[]) => Promise<void>,
): Promise<Figures> {
  progress(name);
  const { biz_id: bizId } = await admin.createPartner(name);
  const { token: serverToken } = await admin.createServerToken(bizId);
  const partner = new PartnerClient({ baseUrl: service.origin, bizId, serverToken });
  const users = Array.from({ length: count }, (_, i) => ({
    userID: randomUserID(),
    region: REGIONS[i % REGIONS.length] ?? REGIONS[0],
  }));
  const [started, cpu] = [performance.now(), await service.cpu()];
  await create(partner, users);
  const seconds = (performance.now() - started) / 1000;
  const serviceMicros = Math.round(((await service.cpu()) - cpu) / count);
  return { seconds: round(seconds), perSecond: Math.round(count / seconds), serviceMicros };
}
