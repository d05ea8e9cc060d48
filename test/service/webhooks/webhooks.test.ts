import { expect } from "chai";
import { and, eq, isNull, sql } from "drizzle-orm";
import { randomBytes, randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import type { Region } from "../../../packages/keyroot/src/identity/region.ts";
import { readConfig } from "../../../packages/service/src/config/readConfig.ts";
import { startService } from "../../../packages/service/src/serve/startService.ts";
import type { EventType } from "../../../packages/service/src/auditLog/recordChange.ts";
import { SERVICE } from "../../../packages/service/src/api/base/author.ts";
import type { Databases } from "../../../packages/service/src/api/database/database.ts";
import { events } from "../../../packages/service/src/webhooks/tables.ts";
import { WebhookEndpointStore } from "../../../packages/service/src/webhooks/webhookEndpoints.ts";
import { webhookDeliveries, webhookEndpoints, webhookSecrets } from "../../../packages/service/src/webhooks/tables.ts";
import { WebhookKeys } from "../../../packages/service/src/webhooks/webhookKeys.ts";
import { expectProblem, pagesOf, type RequestOptions, type TestPartner } from "../../support/service/caller.ts";
import { deliver, workerOf } from "../../support/service/deliver.ts";
import { dump } from "../../support/service/dump.ts";
import {
  describeOnEachDatabase,
  freshDatabases,
  migratedDatabaseUrl,
  serviceVariables,
  TestService,
  twoReplicas,
  WEBHOOK_KEYS,
} from "../../support/service/support.ts";
import { type Received, startReceiver, type WebhookReceiver } from "../../support/service/webhookReceiver.ts";
import { temporaryFolder } from "../../support/support.ts";

const HOUR = 3_600_000;
/** Maximum number of concurrent deliveries to one endpoint. */
const CONCURRENCY = 8;
const PRIVATE = { webhooks: { allowPrivate: true } };

/** Calls a webhook operation that must succeed. */
function call(service: TestService, { jwt }: TestPartner, operation: string, body: object, carried?: RequestOptions) {
  return service.done(`/v1/authdBizSrv/webhooks/${operation}`, body, { token: jwt, ...carried });
}

async function addEndpoint(service: TestService, partner: TestPartner, url: string, types?: EventType[]) {
  const { endpoint_id, secret } = await call(service, partner, "create", { url, ...(types && { types }) });
  return { endpointID: endpoint_id as string, secret: secret as string };
}

/** Stores an event, as a change does. @returns the event's id */
async function emit(
  databases: Databases,
  { bizID }: TestPartner,
  {
    type = "user.created",
    region = "us-west-2",
    at = Date.now(),
  }: { type?: EventType; region?: Region; at?: number } = {},
): Promise<string> {
  const id = randomUUID();
  await databases.regions[region].insert(events).values({ id, bizID, type, data: { region }, at });
  return id;
}

/** Returns the secrets that signed a delivery, regardless of its time. */
function signersOf({ headers, body }: Received, secrets: Record<string, string>): string[] {
  const at = new Date(Number(headers["webhook-timestamp"]) * 1000);
  const signatures = String(headers["webhook-signature"]).split(" ");
  const isSigner = (secret: string) =>
    signatures.includes(new Webhook(secret).sign(String(headers["webhook-id"]), at, body));
  const signers = Object.keys(secrets).filter((name) => isSigner(secrets[name] ?? ""));
  expect(signatures).to.have.length(signers.length);
  return signers;
}

describeOnEachDatabase(
  "webhooks",
  (service) => {
    let receiver: WebhookReceiver;
    let partner: TestPartner;
    let other: TestPartner;
    before(async () => {
      receiver = await startReceiver();
    });
    after(() => receiver.close());
    before("events of other tests, which share the database, are not sent", async () => {
      const { home, regions } = service.databases;
      for (const database of new Set([home, ...Object.values(regions)]))
        await database.update(events).set({ dispatched: 0 }).where(isNull(events.dispatched));
    });
    beforeEach(async () => {
      receiver.received.splice(0);
      receiver.respond = (response) => response.writeHead(204).end();
      [partner, other] = [await service.createPartner(), await service.createPartner()];
      // Otherwise, undelivered events of earlier tests are due when a test moves the clock.
      await service.databases.home.delete(webhookEndpoints);
      await deliver(service);
    });
    /** Lists the newest deliveries. Tokens are valid only at the real time. */
    const list = async (endpointID: string, more: object = {}) => {
      const { ahead } = service;
      service.ahead = 0;
      const { deliveries } = await call(service, partner, "listDeliveries", { endpoint_id: endpointID, ...more });
      service.ahead = ahead;
      return deliveries as Record<string, unknown>[];
    };
    const post = (operation: string, body: object, { jwt } = partner) =>
      service.post(`/v1/authdBizSrv/webhooks/${operation}`, body, { token: jwt });
    const fail = (response: ServerResponse) => response.writeHead(500).end();

    describe("an endpoint", () => {
      it("can be read and changed only by its partner", async () => {
        const made = await call(service, partner, "create", { url: receiver.url, types: ["key.published"] });
        const { secret, ...endpoint } = made;
        expect(secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
        expect(endpoint).to.deep.include({ url: receiver.url, types: ["key.published"], paused: null });
        expect((await call(service, partner, "list", {}))["endpoints"]).to.deep.equal([endpoint]);
        expect((await call(service, other, "list", {}))["endpoints"]).to.deep.equal([]);
        const { endpoint_id } = endpoint;
        for (const [operation, more] of Object.entries({
          update: {},
          pause: {},
          resume: {},
          rotateSecret: {},
          test: {},
          listDeliveries: {},
          redeliver: { event_id: randomUUID() },
          redeliverFailed: { since: 0 },
        }))
          expectProblem(await post(operation, { endpoint_id, ...more }, other), [404, "WEBHOOK_UNKNOWN"]);
        await call(service, other, "delete", { endpoint_id });
        const more = { url: `${receiver.url}/2`, types: [] };
        await call(service, partner, "update", { endpoint_id, ...more });
        const changed = await call(service, partner, "pause", { endpoint_id });
        expect(changed).to.deep.include({ url: `${receiver.url}/2`, types: [] });
        expect(changed["paused"]).to.be.a("number");
        expect((await call(service, partner, "list", {}))["endpoints"]).to.deep.equal([changed]);
        for (let i = 0; i < 2; i++) await call(service, partner, "delete", { endpoint_id });
        expect((await call(service, partner, "list", {}))["endpoints"]).to.deep.equal([]);
      });

      it("is created once for all requests with one Idempotency-Key", async () => {
        const idempotencyKey = randomUUID();
        const create = () => call(service, partner, "create", { url: receiver.url }, { idempotencyKey });
        const answers = await Promise.all([create(), create(), create()]);
        expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).to.equal(1);
        const [{ endpoint_id }] = answers;
        const key = { idempotencyKey: randomUUID() };
        const rotations = [
          await call(service, partner, "rotateSecret", { endpoint_id }, key),
          await call(service, partner, "rotateSecret", { endpoint_id }, key),
        ];
        expect(rotations[0]).to.deep.equal(rotations[1]);
        expect((await call(service, partner, "list", {}))["endpoints"]).to.have.length(1);
      });

      it("rejects the Idempotency-Key of a different operation or request", async () => {
        const [ofCreation, ofRotation] = [randomUUID(), randomUUID()];
        const { url } = receiver;
        const { endpoint_id } = await call(service, partner, "create", { url }, { idempotencyKey: ofCreation });
        await call(service, partner, "rotateSecret", { endpoint_id }, { idempotencyKey: ofRotation });
        for (const [operation, body, idempotencyKey] of [
          ["rotateSecret", { endpoint_id }, ofCreation],
          ["create", { url, types: ["user.created"] }, ofCreation],
          ["create", { url: `${url}/x` }, ofCreation],
          ["create", { url }, ofRotation],
        ] as const) {
          const carried = { token: partner.jwt, idempotencyKey };
          const answer = await service.post(`/v1/authdBizSrv/webhooks/${operation}`, body, carried);
          expectProblem(answer, [409, "IDEMPOTENCY_KEY_REUSED"]);
        }
      });

      it("is limited to ten per partner", async () => {
        const answers = await Promise.all(Array.from({ length: 13 }, () => post("create", { url: receiver.url })));
        expect(answers.filter(({ status }) => status === 200)).to.have.length(10);
        for (const answer of answers) if (answer.status !== 200) expectProblem(answer, [409, "WEBHOOK_LIMIT_REACHED"]);
      });

      it("must have a plain URL and known event types", async () => {
        expectProblem(await post("create", { url: "https://a:b@example.com/" }), [400, "WEBHOOK_URL_REFUSED"]);
        expectProblem(await post("create", { url: receiver.url, types: ["x"] }), [400, "FIELD_INVALID"]);
        const refused = await post("create", { url: "ftp://example.com/" });
        expectProblem(refused, [400, "WEBHOOK_URL_REFUSED"]);
        expect(refused.body["errors"]).to.deep.equal([{ field: "url", detail: "it must begin with https://" }]);
      });

      it("stores its secret in encrypted form", async () => {
        const { endpointID, secret } = await addEndpoint(service, partner, receiver.url);
        const stored = JSON.stringify(await dump(service.databases.home));
        expect(stored).to.include(endpointID);
        for (let i = 6; i + 8 < secret.length; i++) expect(stored).not.to.include(secret.slice(i, i + 8));
        // An encrypted secret cannot be decrypted for another endpoint.
        const second = await addEndpoint(service, partner, receiver.url);
        const { home } = service.databases;
        const [{ sealed } = { sealed: "" }] = await home
          .select()
          .from(webhookSecrets)
          .where(eq(webhookSecrets.endpointID, endpointID));
        await home.update(webhookSecrets).set({ sealed }).where(eq(webhookSecrets.endpointID, second.endpointID));
        const opened = await service.context.webhookEndpoints.secretsOf(second.endpointID, 0).catch(() => "refused");
        expect(opened).to.equal("refused");
        await home.delete(webhookSecrets).where(eq(webhookSecrets.endpointID, second.endpointID));
      });
    });

    describe("an event", () => {
      it("is sent to each endpoint that receives its type", async () => {
        const all = await addEndpoint(service, partner, receiver.url);
        await addEndpoint(service, partner, receiver.url, ["key.published", "user.created"]);
        await addEndpoint(service, partner, receiver.url, ["key.published"]);
        await addEndpoint(service, other, receiver.url);
        const ids = [
          await emit(service.databases, partner),
          await emit(service.databases, partner, { region: "eu-west-1" }),
        ];
        await deliver(service);
        expect(receiver.ids().sort()).to.deep.equal([...ids, ...ids].sort());
        const first = receiver.received.find(({ headers }) => headers["webhook-id"] === ids[0]);
        expect(JSON.parse(first?.body ?? "")).to.deep.include({ id: ids[0], type: "user.created" });
        const deliveries = await list(all.endpointID);
        expect(deliveries.map(({ event_id }) => event_id).sort()).to.deep.equal([...ids].sort());
        for (const delivery of deliveries)
          expect(delivery).to.include({
            state: "delivered",
            attempts: 1,
            status: 204,
            error: null,
            next_attempt: null,
          });
        await deliver(service);
        expect(receiver.received).to.have.length(4);
      });

      it("is not sent to an endpoint that was created later", async () => {
        await emit(service.databases, partner, { at: Date.now() - HOUR });
        await addEndpoint(service, partner, receiver.url);
        await deliver(service);
        expect(receiver.received).to.deep.equal([]);
      });

      it("is also sent to the endpoints of a suspended partner", async () => {
        await addEndpoint(service, partner, receiver.url, ["key.published"]);
        await service.admin("/v1/admin/partners/suspend", { biz_id: partner.bizID });
        const id = await emit(service.databases, partner, { type: "key.published" });
        await deliver(service);
        expect(receiver.ids()).to.deep.equal([id]);
      });

      it("is sent again with the same id if its result was not stored", async () => {
        const { endpointID } = await addEndpoint(service, partner, receiver.url);
        const id = await emit(service.databases, partner);
        const { webhookDeliveries: store, now } = service.context;
        const database = service.databases.regions["us-west-2"];
        await store.dispatch(database, now());
        const claim = () => store.claim(database, endpointID, { now: now(), visibilityMs: 60_000, limit: 10 });
        const [lost] = await claim();
        expect(lost?.event.id).to.equal(id);
        // Until then, no other process takes the delivery.
        expect(await claim()).to.deep.equal([]);
        await deliver(service);
        expect(receiver.received).to.deep.equal([]);
        service.ahead = 61_000;
        await deliver(service);
        expect(receiver.ids()).to.deep.equal([id]);
        // The first process's result arrives late and changes nothing.
        const result = { state: "failed", due: 0, status: 500, error: "late", lastAttempt: now() } as const;
        if (lost !== undefined) await store.finish(database, [{ ...lost, ...result }]);
        const [delivery] = await list(endpointID);
        expect(delivery).to.include({ state: "delivered", attempts: 1 });
      });

      it("is retried for three days with increasing delays", async () => {
        receiver.respond = fail;
        service.stopClock();
        const { endpointID } = await addEndpoint(service, partner, receiver.url);
        const id = await emit(service.databases, partner);
        const attempts: number[] = [];
        for (let round = 0; round < 12; round++) {
          await deliver(service);
          const [delivery] = await list(endpointID);
          attempts.push(service.context.now());
          expect(delivery).to.include({
            event_id: id,
            status: 500,
            error: "The endpoint returned the HTTP status 500.",
          });
          if (delivery?.["state"] === "failed") break;
          const due = Number(delivery?.["next_attempt"]);
          // Just before the due time, nothing is sent.
          service.ahead += due - service.now() - 2000;
          await deliver(service);
          expect(receiver.received).to.have.length(round + 1);
          service.ahead += due - service.now() + 1;
        }
        expect(receiver.ids()).to.deep.equal(Array(10).fill(id));
        expect((attempts.at(-1) ?? 0) - (attempts[0] ?? 0)).to.be.within(72 * HOUR, 80 * HOUR);
        const delays = attempts.slice(1).map((at, i) => at - (attempts[i] ?? 0));
        expect(delays).to.deep.equal([...delays].sort((a, b) => a - b));
        const [failed] = await list(endpointID, { state: "failed" });
        expect(failed).to.include({ attempts: 10, next_attempt: null });
        service.ahead += 1000 * HOUR;
        await deliver(service);
        expect(receiver.received).to.have.length(10);
      });

      it("waits as long as the endpoint requests", async () => {
        receiver.respond = (response) => response.writeHead(429, { "Retry-After": "7200" }).end();
        const { endpointID } = await addEndpoint(service, partner, receiver.url);
        await emit(service.databases, partner);
        await deliver(service);
        const [delivery] = await list(endpointID);
        expect(Number(delivery?.["next_attempt"]) - Date.now()).to.be.within(1.9 * HOUR, 2.1 * HOUR);
      });

      it("is delivered again on request", async () => {
        const { endpointID: endpoint_id } = await addEndpoint(service, partner, receiver.url);
        const delivered = await emit(service.databases, partner);
        await deliver(service);
        receiver.respond = fail;
        const failed = [
          await emit(service.databases, partner),
          await emit(service.databases, partner, { region: "eu-west-1" }),
        ];
        await deliver(service);
        // The delivery is in the state that it has after three days.
        for (const database of service.context.webhookDeliveries.databases)
          await database
            .update(webhookDeliveries)
            .set({ state: "failed" })
            .where(and(eq(webhookDeliveries.endpointID, endpoint_id), eq(webhookDeliveries.state, "pending")));
        receiver.respond = (response) => response.writeHead(200).end();
        receiver.received.splice(0);
        expect(await call(service, partner, "redeliver", { endpoint_id, event_id: delivered })).to.deep.equal({
          queued: 1,
        });
        await deliver(service);
        expect(receiver.ids()).to.deep.equal([delivered]);
        const since = { endpoint_id, since: Date.now() + HOUR };
        expect(await call(service, partner, "redeliverFailed", since)).to.deep.equal({ queued: 0 });
        expect(await call(service, partner, "redeliverFailed", { endpoint_id, since: 0 })).to.deep.equal({ queued: 2 });
        await deliver(service);
        expect(receiver.ids().sort()).to.deep.equal([delivered, ...failed].sort());
        expect(await list(endpoint_id, { state: "delivered" })).to.have.length(3);
        expectProblem(await post("redeliver", { endpoint_id, event_id: randomUUID() }), [404, "EVENT_UNKNOWN"]);
      });

      it("waits while its endpoint is paused", async () => {
        const { endpointID: endpoint_id } = await addEndpoint(service, partner, receiver.url);
        await call(service, partner, "pause", { endpoint_id });
        const id = await emit(service.databases, partner);
        await deliver(service);
        expect(receiver.received).to.deep.equal([]);
        await call(service, partner, "resume", { endpoint_id });
        await deliver(service);
        expect(receiver.ids()).to.deep.equal([id]);
      });

      it("pauses an endpoint that responds with 410", async () => {
        receiver.respond = (response) => response.writeHead(410).end();
        const { endpointID } = await addEndpoint(service, partner, receiver.url);
        for (let i = 0; i < 20; i++) await emit(service.databases, partner);
        await deliver(service);
        // Only the deliveries that were being sent at that time arrived.
        expect(receiver.received.length).to.be.within(1, CONCURRENCY);
        const endpoints = (await call(service, partner, "list", {}))["endpoints"];
        expect(endpoints).to.have.nested.property("[0].paused").that.is.a("number");
        expect(await list(endpointID, { state: "pending" })).to.have.length(20);
      });

      it("is deleted after the configured days, or with its endpoint", async () => {
        const { endpointID } = await addEndpoint(service, partner, receiver.url);
        const id = await emit(service.databases, partner);
        await deliver(service);
        const { webhookDeliveries: store } = service.context;
        await store.dropEvents(Date.now() - HOUR);
        expect(await list(endpointID)).to.have.length(1);
        await store.dropEvents(Date.now() + 1);
        expect(await list(endpointID)).to.deep.equal([]);
        const left = await service.databases.regions["us-west-2"].select().from(events).where(eq(events.id, id));
        expect(left).to.deep.equal([]);

        await emit(service.databases, partner);
        receiver.respond = fail;
        await deliver(service);
        await call(service, partner, "delete", { endpoint_id: endpointID });
        service.ahead = HOUR;
        await deliver(service);
        for (const database of store.databases) {
          const ofEndpoint = eq(webhookDeliveries.endpointID, endpointID);
          expect(await database.select().from(webhookDeliveries).where(ofEndpoint)).to.deep.equal([]);
        }
      });
    });

    describe("dropEvents", () => {
      it("deletes all older events", async () => {
        const { webhookDeliveries: store } = service.context;
        const region = service.databases.regions["us-west-2"];
        await store.dropEvents(Date.now() + 24 * HOUR);
        const { bizID } = partner;
        const event = (at: number) => ({ bizID, type: "user.created" as const, data: {}, at });
        const now = Date.now();
        await region.insert(events).values([event(now), ...Array.from({ length: 1500 }, () => event(now - HOUR))]);
        await store.dropEvents(now);
        expect(await region.select({ at: events.at }).from(events)).to.deep.equal([{ at: now }]);
      });
    });

    describe("a secret", () => {
      it("signs for 24 hours together with the secret that replaces it", async () => {
        const { endpointID: endpoint_id, secret: first } = await addEndpoint(service, partner, receiver.url);
        const rotated = await call(service, partner, "rotateSecret", { endpoint_id });
        const secrets = { first, second: rotated["secret"] as string };
        expect(Number(rotated["previous_until"])).to.be.closeTo(Date.now() + 24 * HOUR, 60_000);
        const signersAfter = async (ahead: number) => {
          service.ahead = ahead;
          await emit(service.databases, partner);
          await deliver(service);
          const last = receiver.received.at(-1);
          return last && signersOf(last, secrets);
        };
        expect(await signersAfter(0)).to.deep.equal(["first", "second"]);
        const [{ headers, body } = { headers: {}, body: "" }] = receiver.received;
        for (const secret of Object.values(secrets))
          new Webhook(secret).verify(body, headers as Record<string, string>);
        expect(await signersAfter(23 * HOUR)).to.deep.equal(["first", "second"]);
        expect(await signersAfter(25 * HOUR)).to.deep.equal(["second"]);
        await service.context.webhookEndpoints.dropEnded(service.context.now());
        expect(await signersAfter(25 * HOUR)).to.deep.equal(["second"]);
      });

      it("is limited to five that sign at the same time", async () => {
        const { endpointID: endpoint_id } = await addEndpoint(service, partner, receiver.url);
        for (let i = 0; i < 4; i++) await call(service, partner, "rotateSecret", { endpoint_id });
        expectProblem(await post("rotateSecret", { endpoint_id }), [409, "WEBHOOK_LIMIT_REACHED"]);
        // The token has expired at that time.
        const later = { now: Date.now() + 25 * HOUR, author: SERVICE, repeatable: undefined };
        expect(await service.context.webhookEndpoints.rotateSecret(partner.bizID, endpoint_id, later)).to.be.an(
          "object",
        );
      });
    });

    describe("a test delivery", () => {
      it("returns the endpoint's response without storing it", async () => {
        const { endpointID: endpoint_id, secret } = await addEndpoint(service, partner, receiver.url, [
          "key.published",
        ]);
        const result = await call(service, partner, "test", { endpoint_id });
        expect(result).to.include({ delivered: true, status: 204, error: null, event_id: receiver.ids()[0] });
        const [{ headers, body } = { headers: {}, body: "" }] = receiver.received;
        const message = new Webhook(secret).verify(body, headers as Record<string, string>);
        expect(message).to.deep.include({ type: "webhook.test", data: {} });
        receiver.respond = fail;
        expect(await call(service, partner, "test", { endpoint_id })).to.include({ delivered: false, status: 500 });
        expect(await list(endpoint_id)).to.deep.equal([]);
      });
    });

    describe("the list of deliveries", () => {
      it("contains each delivery once over all pages", async () => {
        const { endpointID } = await addEndpoint(service, partner, receiver.url);
        const ids: string[] = [];
        for (let i = 0; i < 7; i++) {
          ids.push(await emit(service.databases, partner, { region: i % 2 ? "us-west-2" : "eu-west-1" }));
          // Some deliveries have the same time.
          if (i % 3 === 0) await deliver(service);
        }
        await deliver(service);
        const listed: string[] = [];
        const listTwo = (after: object) =>
          call(service, partner, "listDeliveries", { endpoint_id: endpointID, limit: 2, ...after });
        for await (const page of pagesOf(listTwo))
          listed.push(...(page["deliveries"] as { event_id: string }[]).map(({ event_id }) => event_id));
        expect([...listed].sort()).to.deep.equal([...ids].sort());
        const unknown = { endpoint_id: endpointID, after: randomUUID() };
        expectProblem(await post("listDeliveries", unknown), [404, "EVENT_UNKNOWN"]);
      });
    });

    describe("an endpoint that responds slowly", () => {
      it("does not delay other endpoints", async () => {
        const held: ServerResponse[] = [];
        const slow = await startReceiver();
        slow.respond = (response) => void held.push(response);
        await addEndpoint(service, partner, slow.url);
        await addEndpoint(service, other, receiver.url);
        for (let i = 0; i < 30; i++) await emit(service.databases, partner);
        const ids: string[] = [];
        const worker = workerOf(service);
        await worker.poll();
        await slow.until(CONCURRENCY);
        for (let i = 0; i < 30; i++) ids.push(await emit(service.databases, other));
        await worker.poll();
        await receiver.until(30);
        expect(receiver.ids().sort()).to.deep.equal(ids.sort());
        // The slow endpoint has still not responded.
        expect([slow.received.length, held.length]).to.deep.equal([CONCURRENCY, CONCURRENCY]);
        slow.respond = (response) => response.writeHead(204).end();
        for (const response of held) response.writeHead(204).end();
        await worker.idle();
        expect(slow.received).to.have.length(30);
        await slow.close();
      });

      it("does not delay the service's stop", async () => {
        const { endpointID } = await addEndpoint(service, partner, receiver.url);
        for (let i = 0; i < 12; i++) await emit(service.databases, partner);
        const held: ServerResponse[] = [];
        receiver.respond = (response) => void held.push(response);
        const worker = workerOf(service);
        await worker.poll();
        await receiver.until(CONCURRENCY);
        const stopped = worker.stop();
        for (const response of held) response.writeHead(204).end();
        await stopped;
        expect(receiver.received).to.have.length(CONCURRENCY);
        const pending = await list(endpointID, { state: "pending" });
        expect(pending).to.have.length(12 - CONCURRENCY);
        for (const { next_attempt } of pending) expect(Number(next_attempt)).to.be.at.most(Date.now());
      });
    });
  },
  PRIVATE,
);

describe("two replicas that deliver webhooks", () => {
  // The home database and one region's database are separate.
  const [a, b] = twoReplicas(PRIVATE, async () => ({
    url: await migratedDatabaseUrl(),
    regionUrls: { "eu-west-1": await migratedDatabaseUrl() },
  }));
  let receiver: WebhookReceiver;
  before(async () => {
    receiver = await startReceiver();
  });
  after(() => receiver.close());

  it("send each event once", async () => {
    const partner = await a.createPartner();
    await addEndpoint(b, partner, receiver.url);
    const running = [workerOf(a), workerOf(b)];
    const runs = running.map((worker) => worker.run());
    const ids: string[] = [];
    for (let i = 0; i < 300; i++)
      ids.push(await emit(a.databases, partner, { region: i % 2 ? "us-west-2" : "eu-west-1" }));
    await receiver.until(300);
    for (const worker of running) await worker.stop();
    await Promise.all(runs);
    expect(receiver.ids().sort()).to.deep.equal(ids.sort());
  });
});

describe("the keys that encrypt webhook secrets", () => {
  const folder = temporaryFolder();
  const file = async (...keys: Uint8Array[]) => {
    const path = join(folder.path, randomUUID());
    const lines = keys.map((key) => `${Buffer.from(key).toString("base64")}\n`);
    await writeFile(path, lines.join(""), { mode: 0o600 });
    return path;
  };

  it("are read from a file of base64 lines", async () => {
    const [key, second] = [randomBytes(32), randomBytes(32)];
    expect((await WebhookKeys.read(await file(key, second))).sealingID).to.equal(new WebhookKeys([key]).sealingID);
    const invalid = [
      [],
      [randomBytes(31)],
      [key, key],
      [Buffer.alloc(32)],
      Array.from({ length: 9 }, () => randomBytes(32)),
    ];
    for (const keys of invalid) {
      const error = (await WebhookKeys.read(await file(...keys)).catch((caught: unknown) => caught)) as Error;
      expect(error).to.include({ name: "ArgumentError", code: "CONFIGURATION_INVALID" });
      for (const bad of keys) expect(error.message).not.to.include(bad.toString("base64").slice(0, 8));
    }
    const path = await file(key);
    const text = join(folder.path, "text");
    await writeFile(text, "not base64!\n", { mode: 0o600 });
    const open = join(folder.path, "open");
    await writeFile(open, "x", { mode: 0o644 });
    for (const [name, code] of [
      [text, "CONFIGURATION_INVALID"],
      [join(folder.path, "missing"), "FILE_UNREADABLE"],
      [open, "FILE_PERMISSIONS"],
    ] as const)
      expect(await WebhookKeys.read(name).catch((error: unknown) => error)).to.include({ code });
    expect(path).to.be.a("string");
  });

  it("can be replaced by a key that encrypts the secrets again", async () => {
    await using databases = await freshDatabases();
    const service = await new TestService().start(databases, PRIVATE);
    const partner = await service.createPartner();
    const { endpointID } = await addEndpoint(service, partner, "http://127.0.0.1:1/");
    await service.close();
    const [fresh, missing] = [new WebhookKeys([randomBytes(32)]), "CONFIGURATION_INVALID"];
    const check = (keys: WebhookKeys | undefined) =>
      new WebhookEndpointStore(databases.home, keys)
        .checkKeys()
        .catch((error: unknown) => (error as { code: string }).code);
    expect(await check(WEBHOOK_KEYS)).to.equal(undefined);
    expect(await check(fresh)).to.equal(missing);
    expect(await check(undefined)).to.equal(missing);
    const [first, second] = [randomBytes(32), randomBytes(32)];
    await databases.home.execute(sql`delete from webhook_secrets`);
    const old = new WebhookKeys([first]);
    const secret = { endpointID, created: 1, ...(await old.seal("whsec_" + "A".repeat(32), endpointID)) };
    await databases.home.insert(webhookSecrets).values({ secretID: randomUUID(), ...secret });
    expect(await check(new WebhookKeys([second, first]))).to.equal(undefined);
    expect(await check(new WebhookKeys([second]))).to.equal(undefined);
    expect(await check(old)).to.equal(missing);
    const opened = await new WebhookEndpointStore(databases.home, new WebhookKeys([second])).secretsOf(endpointID, 2);
    expect(opened).to.have.length(1);
  });

  it("are required to start a service whose partners have endpoints", async () => {
    const options = readConfig({
      ...{ ...(await serviceVariables(folder.path)), DATABASE_URL: await migratedDatabaseUrl() },
      ...{ KEYROOT_LOG_LEVEL: "silent", KEYROOT_WEBHOOK_PRIVATE: "true" },
    });
    const receiver = await startReceiver();

    // Without keys, the service runs and reports that they are missing.
    const service = new TestService();
    const start = async (webhookKeys?: string) => {
      const running = await startService({ ...options, webhookKeys });
      service.url = running.url;
      service.monitoringUrl = running.monitoringUrl ?? "";
      return running;
    };
    let running = await start();
    const partner = await service.createPartner();
    const create = () => service.post("/v1/authdBizSrv/webhooks/create", { url: receiver.url }, { token: partner.jwt });
    expectProblem(await create(), [409, "WEBHOOKS_DISABLED"]);
    await running.close();

    // With keys, the service sends deliveries and measures them.
    const keys = await file(randomBytes(32));
    running = await start(keys);
    expect((await create()).status).to.equal(200);
    await service.createUser(partner);
    await receiver.until(1);
    const delivered = /^keyroot_webhook_attempt_duration_seconds_count\{outcome="delivered"\} [1-9]/m;
    for (let metrics = ""; !delivered.test(metrics);) metrics = (await service.monitor("/metrics")).text;
    expect((await service.monitor("/metrics")).text).to.match(/^keyroot_webhook_pending_deliveries \d+$/m);
    await running.close();

    const refused = await start().catch((error: unknown) => error as Error);
    expect(refused)
      .to.include({ code: "CONFIGURATION_INVALID" })
      .with.property("message")
      .that.includes("KEYROOT_WEBHOOK_KEYS");
    const withoutKey = await start(await file(randomBytes(32))).catch((error: unknown) => error as Error);
    expect(withoutKey).to.include({ code: "CONFIGURATION_INVALID" });
    await receiver.close();
  });
});
