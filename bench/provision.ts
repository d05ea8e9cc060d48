/**
 * Measures how long `provision` takes to create users with a refresh token each, in comparison with two requests per user
 * (`createUser` and `createRefreshToken`), over the same PostgreSQL in the same run.
 *
 * `npm run bench:provision` provisions 100,000 users, and 3,000 with two requests each, prints the figures and writes them to bench/provision.json.
 * `-- --quick` only prints those of 5,000 and 2,000 users.
 */
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import pMap from "p-map";
import { startPostgres } from "../fixtures/postgres/postgres.ts";
import { serviceEnvironment, startServiceProcess } from "../fixtures/service/serviceProcess.ts";
import { AdminClient } from "keyroot/admin";
import { randomUserID, REGIONS, type Region } from "keyroot/identity";
import { PartnerClient } from "keyroot/partner";

const QUICK = process.argv.includes("--quick");
const USERS = QUICK ? 5_000 : 100_000;
/** With two requests per user, the rate does not depend on the number: so many are enough. */
const USERS_ONE_BY_ONE = QUICK ? 2_000 : 3_000;
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

const oneByOne: Record<number, Measured> = {};
for (const concurrency of CLIENTS)
  oneByOne[concurrency] = await measure(
    USERS_ONE_BY_ONE,
    `two requests per user, ${concurrency} users at a time`,
    async (partner, users) => {
      await pMap(
        users,
        async ({ userID, region }) => {
          await partner.createUser(userID, region);
          await partner.createRefreshToken(userID, CONTEXT, { idempotencyKey: randomUUID() });
        },
        { concurrency },
      );
    },
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

const figures = {
  machine: `${cpus()[0]?.model ?? "unknown"}, ${cpus().length} cores, Node ${process.version}`,
  database: `${postgres.version}, fsync on; client, service and database on this machine`,
  command: "npm run bench:provision",
  claims: {
    what: `provision, relative to two requests per user, ${CLIENTS[0]} users at a time`,
    times: { measured: times(CLIENTS[0]), goal: 5 },
  },
  what: `${USERS} users with a refresh token each by provision, ${USERS_ONE_BY_ONE} with two requests per user: seconds, users per second, µs of the service's processor time per user`,
  oneByOne,
  timesFaster: Object.fromEntries(CLIENTS.map((clients) => [clients, times(clients)])),
  provision: inLists,
  repeatedRun: repeated,
};
process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
if (!QUICK) writeFileSync(new URL("provision.json", import.meta.url), `${JSON.stringify(figures, null, 2)}\n`);

interface Wanted {
  userID: string;
  region: Region;
}

interface Measured {
  seconds: number;
  perSecond: number;
  serviceMicros: number;
}

/** Creates `count` users for a new partner. */
async function measure(
  count: number,
  name: string,
  create: (partner: PartnerClient, users: Wanted[]) => Promise<void>,
): Promise<Measured> {
  process.stderr.write(`${name}\n`);
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

function times(clients = 0): number {
  return round(inLists.perSecond / (oneByOne[clients]?.perSecond ?? NaN));
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
