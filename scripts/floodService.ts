/**
 * Floods the partner service with requests that cost an attacker nothing, from many addresses of one IPv6 network, and prints
 * what it answered and what that cost it: `node scripts/floodService.ts [requests]`, 7,000 of each kind by default.
 */
import { randomBytes } from "node:crypto";
import pMap from "p-map";
import { Client } from "pg";
import { startPostgres } from "../fixtures/postgres/postgres.ts";
import { createPartner, serviceEnvironment, startServiceProcess } from "../fixtures/service/serviceProcess.ts";
import { numberArguments } from "./numberArguments.ts";

const [REQUESTS] = numberArguments(7000);
const CONCURRENCY = 16;
const LIST = "/v1/authdBizSrv/users/list";
const EXCHANGE = "/v1/public/auth/jwt";

await using cleanup = new AsyncDisposableStack();
const postgres = await startPostgres({ fsync: true });
cleanup.defer(() => postgres.stop());
const environment = await serviceEnvironment(postgres, 10);
const limits = { KEYROOT_RATE_LIMIT: "6000", KEYROOT_TRUSTED_PROXIES: "127.0.0.1" };
const service = cleanup.use(await startServiceProcess({ ...environment, ...limits }));
const { origin } = service;
const { accessToken } = await createPartner(origin, environment.KEYROOT_ADMIN_TOKEN);
const forged = () => `${accessToken.slice(0, -43)}${randomBytes(32).toString("base64url")}`;

/** One kind of request from one address. */
const FLOODS: Record<string, () => [path: string, init: RequestInit]> = {
  "forged access tokens": () => [
    LIST,
    { method: "POST", headers: { Authorization: `Bearer ${forged()}` }, body: "{}" },
  ],
  "malformed exchanges": () => [EXCHANGE, { method: "POST", body: "{" }],
  "unknown refresh tokens": () => [
    EXCHANGE,
    {
      method: "POST",
      body: JSON.stringify({ biz_id: "biz_1", token: `krs_${randomBytes(32).toString("base64url")}` }),
    },
  ],
  "unknown paths": () => ["/readyz", {}],
};

const figures: Record<string, unknown> = {};
for (const [i, [what, make]] of Object.entries(FLOODS).entries()) {
  const address = (n: number) => `2001:db8:${i}:1:${n.toString(16)}::1`;
  figures[what] = await flood((n) => send(address(n), ...make()));
}
const client = new Client({ connectionString: environment.DATABASE_URL });
await client.connect();
const { rows } = await client.query("SELECT count(*)::int AS rows FROM rate_limits");
await client.end();
process.stdout.write(`${JSON.stringify({ requests: REQUESTS, figures, rowsOfLimits: rows[0] as unknown }, null, 2)}\n`);

/** Sends requests, and counts the statuses of the responses. */
async function flood(sendOne: (n: number) => Promise<number>) {
  const cpu = await service.cpu();
  const statuses: Record<number, number> = {};
  await pMap(
    Array.from({ length: REQUESTS }, (_, n) => n),
    async (n) => {
      const status = await sendOne(n);
      statuses[status] = (statuses[status] ?? 0) + 1;
    },
    { concurrency: CONCURRENCY },
  );
  return { statuses, cpuMicrosecondsPerRequest: Math.round(((await service.cpu()) - cpu) / REQUESTS) };
}

async function send(address: string, path: string, init: RequestInit): Promise<number> {
  const headers = { "Content-Type": "application/json", "X-Forwarded-For": address, ...(init.headers as object) };
  const response = await fetch(origin + path, { ...init, headers });
  await response.arrayBuffer();
  return response.status;
}
