/**
 * Kills the service and its PostgreSQL alternately with SIGKILL while partners make changes. Then checks that each event
 * reached the partner's endpoint, although this endpoint fails now and then, and that no event lacks its change.
 *
 * `FAULTS=large npm test -- test/service/faults/killEvents.test.ts` makes 10,000 events and kills 20 times, which takes
 * about 5 minutes.
 */
import { expect } from "chai";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabases } from "@keyroot/service";
import { type Postgres, runAt, startPostgres } from "../../support/postgres/postgres.ts";
import { Caller } from "../../support/service/caller.ts";
import { serviceEnvironment, startServiceProcess } from "../../support/service/serviceProcess.ts";
import { checkEvents } from "./load/checkEvents.ts";
import { type EventReceiver, startEventReceiver } from "./load/eventReceiver.ts";
import { Replicas } from "./load/replicas.ts";
import { UserWorkload } from "./load/userWorkload.ts";
import { describeFaults, FAULTS_TIMEOUT_MS, reported } from "../../support/faults.ts";
import { isLarge } from "../../support/testSize.ts";
import { ENDLESS_MS } from "../../support/endless.ts";

describeFaults("event delivery, after kill -9 of the service and PostgreSQL", function () {
  this.timeout(FAULTS_TIMEOUT_MS);

  it("loses no event, and delivers no event without its change", async () => {
    const size = isLarge ? { events: 10_000, kills: 20 } : { events: 300, kills: 2, sendAtOnce: true };
    const { kills, events, findings, findingsWithoutOneEvent, endpointFailures } = await reported(killEvents(size));
    expect(findings).to.deep.equal([]);
    expect(kills).to.deep.equal({ service: size.kills / 2, postgres: size.kills / 2 });
    expect(events).to.be.at.least(size.events);
    expect(endpointFailures).to.be.greaterThan(0);
    // The check finds a removed event twice: as a change without an event, and as a delivery without an event.
    expect(findingsWithoutOneEvent).to.have.length(2);
  });
});

const WORKERS = 8;
const CONNECTIONS = 8;
/** Number of events per user: the user, a refresh token and a key are created. */
const EVENTS_PER_USER = 3;
const FAILURE_RATE = 0.03;

interface KillEventsOptions {
  /** Minimum number of events. */
  events: number;
  kills: number;
  /** Whether deliveries that a killed service was sending are sent immediately after the last kill, not after 90 s. */
  sendAtOnce?: boolean;
}

interface Outcome {
  events: number;
  kills: { service: number; postgres: number };
  /** Number of events that the endpoint acknowledged more than once. */
  duplicates: number;
  /** Number of deliveries that the endpoint rejected or interrupted. */
  endpointFailures: number;
  /** Number of requests that a kill interrupted and that were sent again. */
  interrupted: number;
  findings: string[];
  /** The findings after one event was removed. They show that the check detects a lost event. */
  findingsWithoutOneEvent: string[];
}

async function killEvents({ events, kills, sendAtOnce = false }: KillEventsOptions): Promise<Outcome> {
  await using cleanup = new AsyncDisposableStack();
  const postgres = await startPostgres({ fsync: true });
  cleanup.defer(() => postgres.stop());
  const { environment, urls } = await environmentOver(postgres);
  const receiver = cleanup.use(await startEventReceiver(FAILURE_RATE));
  const service = cleanup.use(await Replicas.start(1, () => startServiceProcess(environment)));

  const caller = new Caller(environment.KEYROOT_ADMIN_TOKEN, service.origin());
  const partner = await caller.createPartner();
  await caller.done("/v1/authdBizSrv/webhooks/create", { url: receiver.url }, { token: partner.jwt });

  const workload = new UserWorkload(() => service.origin(), partner);
  const users = Math.ceil(events / EVENTS_PER_USER);
  const killed = { service: 0, postgres: 0 };
  const load = cleanup.use(workload.start(WORKERS));
  for (let kill = 0; kill < kills; kill++) {
    await load.untilRegistered((users * (kill + 0.5)) / kills);
    if (kill % 2 === 0) {
      await service.killNext();
      killed.service++;
    } else {
      await postgres.kill();
      await postgres.restart();
      killed.postgres++;
    }
  }
  await load.untilRegistered(users);
  await load.end();
  await untilDelivered(urls, sendAtOnce);
  const { events: found, findings } = await checkEvents(urls, receiver);
  await runAt(urls[0] ?? "", "delete from events where position = (select min(position) from events)");
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

/** Returns an environment with two databases: one for home and one region, the other for the other region. */
async function environmentOver(postgres: Postgres) {
  const environment = await serviceEnvironment(postgres, CONNECTIONS);
  const region = await postgres.createDatabase();
  const databases = await openDatabases({ url: region });
  await databases.migrate();
  await databases[Symbol.asyncDispose]();
  const keys = join(postgres.folder, "webhook-keys");
  await writeFile(keys, randomBytes(32).toString("base64"), { mode: 0o600 });
  const webhooks = { KEYROOT_WEBHOOK_KEYS: keys, KEYROOT_WEBHOOK_PRIVATE: "true" };
  return {
    environment: { ...environment, ...webhooks, DATABASE_URL_EU_WEST_1: region },
    urls: [environment.DATABASE_URL, region],
  };
}

/** Waits until all events are delivered. @throws Error if a delivery failed or the time limit is reached */
async function untilDelivered(urls: readonly string[], sendAtOnce: boolean): Promise<void> {
  const end = Date.now() + ENDLESS_MS;
  for (const url of urls) {
    for (;;) {
      // Deliveries that the endpoint rejected would wait for minutes. Deliveries that a killed service was sending have
      // no attempt yet.
      const waiting = `state = 'pending' and due > 0 ${sendAtOnce ? "" : "and attempts > 0"}`;
      await runAt(url, `update webhook_deliveries set due = 0 where ${waiting}`);
      const [{ undispatched, pending, failed } = { undispatched: 0, pending: 0, failed: 0 }] = await runAt<{
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

function duplicatesIn({ acknowledged }: EventReceiver): number {
  return [...acknowledged.values()].filter((count) => count > 1).length;
}
