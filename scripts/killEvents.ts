/**
 * Kills the partner service and its PostgreSQL in turns by SIGKILL while partners' changes cause events, and checks that each
 * event was delivered to the partner's endpoint and that none was without its change: `npm run kill:events [events] [kills]`,
 * 10,000 and 20 by default. The endpoint fails, too. Prints one object of JSON. Exit code 1 if anything is wrong.
 */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { openDatabases } from "@keyroot/operator/service";
import { type Postgres, startPostgres } from "../fixtures/postgres/postgres.ts";
import {
  createPartner,
  post,
  serviceEnvironment,
  type ServiceProcess,
  startServiceProcess,
} from "../fixtures/service/serviceProcess.ts";
import { checkEvents } from "./killing/checkEvents.ts";
import { type EventReceiver, startEventReceiver } from "./killing/eventReceiver.ts";
import { UserWorkload } from "./killing/userWorkload.ts";
import { numberArguments } from "./numberArguments.ts";

const WORKERS = 8;
const CONNECTIONS = 8;
const REGIONS = ["us-west-2", "eu-west-1"] as const;
/** Creating a user, a refresh token, and registering a key. */
const EVENTS_PER_USER = 3;
const FAILURE_RATE = 0.03;
/** How long deliveries may take after the last kill. One that a killed service was sending is sent again after 90 s. */
const TIMEOUT_MS = 240_000;

export interface KillEventsOptions {
  /** The least number of events. */
  events: number;
  kills: number;
  /** Also sends at once, after the last kill, what a killed service was sending, instead of after 90 s. */
  hurry?: boolean;
}

export interface Outcome {
  events: number;
  /** How often each was killed. */
  kills: { service: number; postgres: number };
  /** Events that the endpoint acknowledged more than once. */
  duplicates: number;
  /** Deliveries that the endpoint refused or cut off. */
  endpointFailures: number;
  /** Requests that were interrupted by a kill and sent again. */
  interrupted: number;
  findings: string[];
  /** Removes one event and checks again: what a checker that notices nothing would not find. */
  findingsWithoutOneEvent: string[];
}

/** Runs the workload, kills, and checks. */
export async function killEvents({ events, kills, hurry = false }: KillEventsOptions): Promise<Outcome> {
  await using cleanup = new AsyncDisposableStack();
  const postgres = await startPostgres({ fsync: true });
  cleanup.defer(() => postgres.stop());
  const { environment, urls } = await environmentOver(postgres);
  const receiver = cleanup.use(await startEventReceiver(FAILURE_RATE));
  let service: ServiceProcess = await startServiceProcess(environment);
  cleanup.defer(() => service[Symbol.asyncDispose]());

  const partner = await createPartner(service.origin, environment.KEYROOT_ADMIN_TOKEN);
  const path = `${service.origin}/v1/authdBizSrv/webhooks/create`;
  const added = await post(path, { url: receiver.url }, partner);
  if (added.status !== 200) throw new Error(`The endpoint was not added: ${JSON.stringify(added)}`);

  const workload = new UserWorkload(() => service.origin, partner);
  const { acknowledged } = workload;
  const users = Math.ceil(events / EVENTS_PER_USER);
  const killed = { service: 0, postgres: 0 };
  let isKilling = true;
  const worker = async (index: number) => {
    while (isKilling || acknowledged.keys < users) await workload.provision(REGIONS[index % 2] ?? "us-west-2");
  };
  const working = Promise.all(Array.from({ length: WORKERS }, (_, index) => worker(index)));
  for (let kill = 0; kill < kills; kill++) {
    while (acknowledged.keys < (users * (kill + 0.5)) / kills) await sleep(5 + Math.random() * 100);
    if (kill % 2 === 0) {
      await service.kill();
      service = await startServiceProcess(environment);
      killed.service++;
    } else {
      await postgres.kill();
      await postgres.restart();
      killed.postgres++;
    }
  }
  isKilling = false;
  await working;
  await untilDelivered(urls, hurry);
  const { events: found, findings } = await checkEvents(urls, receiver);
  await run(urls[0] ?? "", "delete from events where position = (select min(position) from events)");
  const { findings: findingsWithoutOneEvent } = await checkEvents(urls, receiver);
  return {
    events: found,
    kills: killed,
    duplicates: duplicatesIn(receiver),
    endpointFailures: receiver.failures,
    interrupted: workload.interrupted,
    findings: [...workload.findings, ...findings],
    findingsWithoutOneEvent,
  };
}

/** Home and one region in a database, the other region in another one. */
async function environmentOver(postgres: Postgres) {
  const environment = await serviceEnvironment(postgres, CONNECTIONS);
  const region = await postgres.createDatabase();
  const databases = await openDatabases({ url: region });
  await databases.migrate();
  await databases[Symbol.asyncDispose]();
  const keys = join(postgres.folder, "webhook-keys");
  await writeFile(keys, randomBytes(32).toString("base64"), { mode: 0o600 });
  const webhooks = { KEYROOT_WEBHOOK_KEYS: keys, KEYROOT_WEBHOOKS_PRIVATE: "true" };
  return {
    environment: { ...environment, ...webhooks, DATABASE_URL_EU_WEST_1: region },
    urls: [environment.DATABASE_URL, region],
  };
}

/** Waits until no event waits for its delivery. @throws Error if a delivery failed, or it takes too long */
async function untilDelivered(urls: readonly string[], hurry: boolean): Promise<void> {
  const end = Date.now() + TIMEOUT_MS;
  for (const url of urls) {
    for (;;) {
      // Those that the endpoint refused would wait for minutes. Those that a killed service was sending have no attempt yet.
      const waiting = `state = 'pending' and due > 0 ${hurry ? "" : "and attempts > 0"}`;
      await run(url, `update webhook_deliveries set due = 0 where ${waiting}`);
      const [{ undispatched, pending, failed } = { undispatched: 0, pending: 0, failed: 0 }] = await run<{
        undispatched: number;
        pending: number;
        failed: number;
      }>(
        url,
        `select (select count(*)::int from events where dispatched is null) as undispatched,
          (select count(*)::int from webhook_deliveries where state = 'pending') as pending,
          (select count(*)::int from webhook_deliveries where state = 'failed') as failed`,
      );
      if (failed > 0) throw new Error(`${failed} deliveries have failed.`);
      if (undispatched + pending === 0) break;
      if (Date.now() > end) throw new Error(`${undispatched} events and ${pending} deliveries wait.`);
      await sleep(1000);
    }
  }
}

async function run<Row extends object>(url: string, statement: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}

function duplicatesIn({ acknowledged }: EventReceiver): number {
  return [...acknowledged.values()].filter((count) => count > 1).length;
}

if (import.meta.main) {
  const [events, kills] = numberArguments(10_000, 20);
  const start = performance.now();
  const { findings, findingsWithoutOneEvent, ...outcome } = await killEvents({ events, kills });
  const seconds = Math.round((performance.now() - start) / 100) / 10;
  process.stdout.write(`${JSON.stringify({ ...outcome, findings: findings.length, seconds }, null, 2)}\n`);
  for (const finding of findings) process.stdout.write(`${finding}\n`);
  process.exitCode = findings.length === 0 && findingsWithoutOneEvent.length > 0 ? 0 : 1;
}
