import { randomUUID } from "node:crypto";
import type { z } from "zod";
import { ServiceError } from "keyroot/errors";
import type { ServiceContext } from "../http/context.ts";
import type { webhookSchemas } from "../http/webhookSchemas.ts";
import type { Author, EventType } from "../store/changes.ts";
import type { DeliveryInfo } from "../store/webhookDeliveries.ts";
import type { WebhookEndpoint } from "../store/webhookEndpoints.ts";
import { checkEndpointUrl } from "../webhooks/endpointUrl.ts";

/** A caller waits for a test, so it is shorter than other deliveries, and than the timeout of `PartnerClient`. */
const TEST_TIMEOUT_MS = 8_000;

type Body<Operation extends keyof typeof webhookSchemas> = z.output<(typeof webhookSchemas)[Operation]["body"]>;

/** Who calls. Without an Idempotency-Key, no copy of a secret is kept for repeated requests. */
interface Caller {
  bizID: string;
  author: Author;
  idempotencyKey?: string | undefined;
}

/** What partners do with their webhook endpoints, in the API's field names: for its operations, and for the dashboard. */
export function webhookActions(context: ServiceContext) {
  const { webhookEndpoints, webhookDeliveries, webhookSender, allowPrivateWebhooks, now } = context;

  const endpointOf = async (bizID: string, endpointID: string): Promise<WebhookEndpoint> =>
    (await webhookEndpoints.get(bizID, endpointID)) ?? endpointUnknown();
  const setPaused = async ({ bizID, author }: Caller, endpointID: string, pause: boolean) => {
    const endpoint = await webhookEndpoints.setPaused({ bizID, endpointID }, pause, now(), author);
    return toEndpointResponse(endpoint ?? endpointUnknown());
  };

  return {
    async create({ url, types = [] }: Body<"create">, { bizID, author, idempotencyKey }: Caller) {
      const fields = { url: checkEndpointUrl(url, allowPrivateWebhooks), types: toTypes(types) };
      const { endpoint, secret } = await webhookEndpoints.create(bizID, fields, { now: now(), author, idempotencyKey });
      return { ...toEndpointResponse(endpoint), secret };
    },

    async list(bizID: string) {
      return { endpoints: (await webhookEndpoints.list(bizID)).map(toEndpointResponse) };
    },

    async update({ endpoint_id, url, types }: Body<"update">, { bizID, author }: Caller) {
      const checked = url === undefined ? undefined : checkEndpointUrl(url, allowPrivateWebhooks);
      const changes = { url: checked, types: types && toTypes(types) };
      const endpoint = await webhookEndpoints.update(bizID, endpoint_id, changes, now(), author);
      return toEndpointResponse(endpoint ?? endpointUnknown());
    },

    pause: ({ endpoint_id }: Body<"pause">, caller: Caller) => setPaused(caller, endpoint_id, true),
    resume: ({ endpoint_id }: Body<"resume">, caller: Caller) => setPaused(caller, endpoint_id, false),

    async delete({ endpoint_id }: Body<"delete">, { bizID, author }: Caller) {
      await webhookEndpoints.delete(bizID, endpoint_id, now(), author);
      return { endpoint_id };
    },

    async rotateSecret({ endpoint_id }: Body<"rotateSecret">, { bizID, author, idempotencyKey }: Caller) {
      const options = { now: now(), author, idempotencyKey };
      const made = (await webhookEndpoints.rotateSecret(bizID, endpoint_id, options)) ?? endpointUnknown();
      return { endpoint_id, secret: made.secret, previous_until: made.previousUntil };
    },

    async test({ endpoint_id }: Body<"test">, bizID: string) {
      const { url } = await endpointOf(bizID, endpoint_id);
      const event = { id: randomUUID(), type: "webhook.test" as const, userID: null, data: {}, at: now() };
      const secrets = await webhookEndpoints.secretsOf(endpoint_id, now());
      if (secrets.length === 0) endpointUnknown();
      const started = performance.now();
      const { status, error } = await webhookSender.send(url, event, secrets, now(), TEST_TIMEOUT_MS);
      const duration = Math.round(performance.now() - started);
      return { event_id: event.id, delivered: error === null, status, error, duration };
    },

    async listDeliveries({ endpoint_id, state, limit, after }: Body<"listDeliveries">, bizID: string) {
      const { endpointID } = await endpointOf(bizID, endpoint_id);
      const deliveries = (await webhookDeliveries.list(endpointID, { state, limit, after })) ?? eventUnknown();
      const next = deliveries.length === limit ? (deliveries.at(-1)?.eventID ?? null) : null;
      return { deliveries: deliveries.map(toDeliveryResponse), next };
    },

    async redeliver({ endpoint_id, event_id }: Body<"redeliver">, bizID: string) {
      const { endpointID } = await endpointOf(bizID, endpoint_id);
      const queued = await webhookDeliveries.redeliver(endpointID, event_id, now());
      return queued === 0 ? eventUnknown() : { queued };
    },

    async redeliverFailed({ endpoint_id, since }: Body<"redeliverFailed">, bizID: string) {
      const { endpointID } = await endpointOf(bizID, endpoint_id);
      return { queued: await webhookDeliveries.redeliverFailed(endpointID, since, now()) };
    },
  };
}

/** @throws ServiceError WEBHOOK_UNKNOWN */
function endpointUnknown(): never {
  throw new ServiceError(404, "WEBHOOK_UNKNOWN", "You have no webhook endpoint with this id.");
}

/** @throws ServiceError EVENT_UNKNOWN */
function eventUnknown(): never {
  throw new ServiceError(404, "EVENT_UNKNOWN", "The endpoint has no delivery of an event with this id.");
}

function toEndpointResponse({ endpointID, url, types, created, paused }: WebhookEndpoint) {
  return { endpoint_id: endpointID, url, types: types ?? [], created, paused };
}

/** An empty list in the API means all types. */
function toTypes(types: EventType[]): EventType[] | null {
  return types.length === 0 ? null : types;
}

function toDeliveryResponse({ eventID, lastAttempt, nextAttempt, ...delivery }: DeliveryInfo) {
  const { type, state, attempts, created, status, error } = delivery;
  return {
    event_id: eventID,
    ...{ type, state, attempts, created },
    last_attempt: lastAttempt,
    next_attempt: nextAttempt,
    ...{ status, error },
  };
}
