import { randomUUID } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { ServiceError } from "keyroot/errors";
import type { ServiceContext } from "../http/context.ts";
import { type App, defineOperation, idempotencyKeyOf } from "../http/defineOperation.ts";
import { authorOf } from "../http/requestLog.ts";
import { webhookSchemas } from "../http/webhookSchemas.ts";
import type { DeliveryInfo } from "../store/webhookDeliveries.ts";
import type { EventType } from "../store/changes.ts";
import type { WebhookEndpoint } from "../store/webhookEndpoints.ts";
import { checkEndpointUrl } from "../webhooks/endpointUrl.ts";

/** A caller waits for a test, so it is shorter than other deliveries, and than the timeout of `PartnerClient`. */
const TEST_TIMEOUT_MS = 8_000;

/** A partner's operations on its webhook endpoints. `app` requires a partner's access token. */
export function webhookRoutes(
  app: App,
  { webhookEndpoints, webhookDeliveries, webhookSender, allowPrivateWebhooks, now }: ServiceContext,
  partnerOf: (request: FastifyRequest) => { bizID: string },
): void {
  const endpointOf = async (request: FastifyRequest, endpointID: string): Promise<WebhookEndpoint> => {
    const endpoint = await webhookEndpoints.get(partnerOf(request).bizID, endpointID);
    if (endpoint !== undefined) return endpoint;
    throw endpointUnknown();
  };

  defineOperation(app, {
    path: "/v1/authdBizSrv/webhooks/create",
    summary: "Add an endpoint that receives events",
    description: "The endpoint receives the events from now on. At most 10 endpoints.",
    tag: "partner",
    idempotent: true,
    errors: [409],
    schema: webhookSchemas.create,
    async handle({ url, types = [] }, request) {
      const { bizID } = partnerOf(request);
      const options = { now: now(), author: authorOf(request), idempotencyKey: idempotencyKeyOf(request) };
      const fields = { url: checkEndpointUrl(url, allowPrivateWebhooks), types: toTypes(types) };
      const { endpoint, secret } = await webhookEndpoints.create(bizID, fields, options);
      return { ...toEndpointResponse(endpoint), secret };
    },
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/webhooks/list",
    summary: "List the partner's webhook endpoints in the order of creation, without their secrets",
    tag: "partner",
    schema: webhookSchemas.list,
    async handle(_body, request) {
      return { endpoints: (await webhookEndpoints.list(partnerOf(request).bizID)).map(toEndpointResponse) };
    },
  });

  const setPaused = async (request: FastifyRequest, endpointID: string, pause: boolean) => {
    const { bizID } = partnerOf(request);
    const endpoint = await webhookEndpoints.setPaused({ bizID, endpointID }, pause, now(), authorOf(request));
    if (endpoint === undefined) throw endpointUnknown();
    return toEndpointResponse(endpoint);
  };

  defineOperation(app, {
    path: "/v1/authdBizSrv/webhooks/update",
    summary: "Change where a webhook endpoint receives events, or which types",
    description: "Applies to deliveries that wait, too. Repeating the request has no effect.",
    tag: "partner",
    errors: [404],
    schema: webhookSchemas.update,
    async handle({ endpoint_id, url, types }, request) {
      const { bizID } = partnerOf(request);
      const checked = url === undefined ? undefined : checkEndpointUrl(url, allowPrivateWebhooks);
      const changes = { url: checked, types: types && toTypes(types) };
      const endpoint = await webhookEndpoints.update(bizID, endpoint_id, changes, now(), authorOf(request));
      if (endpoint === undefined) throw endpointUnknown();
      return toEndpointResponse(endpoint);
    },
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/webhooks/pause",
    summary: "Pause a webhook endpoint: its deliveries wait",
    description: "Repeating the request has no effect.",
    tag: "partner",
    errors: [404],
    schema: webhookSchemas.pause,
    handle: ({ endpoint_id }, request) => setPaused(request, endpoint_id, true),
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/webhooks/resume",
    summary: "Resume a webhook endpoint: its deliveries are sent",
    description: "Repeating the request has no effect.",
    tag: "partner",
    errors: [404],
    schema: webhookSchemas.resume,
    handle: ({ endpoint_id }, request) => setPaused(request, endpoint_id, false),
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/webhooks/delete",
    summary: "Delete a webhook endpoint, and all deliveries to it",
    description: "Repeating the request has no effect.",
    tag: "partner",
    schema: webhookSchemas.delete,
    async handle({ endpoint_id }, request) {
      await webhookEndpoints.delete(partnerOf(request).bizID, endpoint_id, now(), authorOf(request));
      return { endpoint_id };
    },
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/webhooks/rotateSecret",
    summary: "Replace the secret of a webhook endpoint",
    description: "Deliveries are signed with the new and the earlier secret for 24 hours, then with the new one only.",
    tag: "partner",
    idempotent: true,
    errors: [404, 409],
    schema: webhookSchemas.rotateSecret,
    async handle({ endpoint_id }, request) {
      const options = { now: now(), author: authorOf(request), idempotencyKey: idempotencyKeyOf(request) };
      const made = await webhookEndpoints.rotateSecret(partnerOf(request).bizID, endpoint_id, options);
      if (made === undefined) throw endpointUnknown();
      return { endpoint_id, secret: made.secret, previous_until: made.previousUntil };
    },
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/webhooks/test",
    summary: "Send an event of the type webhook.test to an endpoint, and return its response",
    description: "Sends once, also to a paused endpoint.",
    tag: "partner",
    errors: [404],
    schema: webhookSchemas.test,
    async handle({ endpoint_id }, request) {
      const { url } = await endpointOf(request, endpoint_id);
      const event = { id: randomUUID(), type: "webhook.test" as const, userID: null, data: {}, at: now() };
      const secrets = await webhookEndpoints.secretsOf(endpoint_id, now());
      if (secrets.length === 0) throw endpointUnknown();
      const started = performance.now();
      const { status, error } = await webhookSender.send(url, event, secrets, now(), TEST_TIMEOUT_MS);
      const duration = Math.round(performance.now() - started);
      return { event_id: event.id, delivered: error === null, status, error, duration };
    },
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/webhooks/listDeliveries",
    summary: "List the deliveries to an endpoint in pages, the newest first",
    tag: "partner",
    errors: [404],
    schema: webhookSchemas.listDeliveries,
    async handle({ endpoint_id, state, limit, after }, request) {
      const { endpointID } = await endpointOf(request, endpoint_id);
      const deliveries = await webhookDeliveries.list(endpointID, { state, limit, after });
      if (deliveries === undefined) throw eventUnknown();
      const next = deliveries.length === limit ? (deliveries.at(-1)?.eventID ?? null) : null;
      return { deliveries: deliveries.map(toDeliveryResponse), next };
    },
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/webhooks/redeliver",
    summary: "Deliver one event to an endpoint again",
    description: "The event keeps its id. It must be one that the endpoint was to receive, at most 30 days ago.",
    tag: "partner",
    errors: [404],
    schema: webhookSchemas.redeliver,
    async handle({ endpoint_id, event_id }, request) {
      const { endpointID } = await endpointOf(request, endpoint_id);
      const queued = await webhookDeliveries.redeliver(endpointID, event_id, now());
      if (queued === 0) throw eventUnknown();
      return { queued };
    },
  });

  defineOperation(app, {
    path: "/v1/authdBizSrv/webhooks/redeliverFailed",
    summary: "Deliver all events again whose delivery to an endpoint failed",
    tag: "partner",
    errors: [404],
    schema: webhookSchemas.redeliverFailed,
    async handle({ endpoint_id, since }, request) {
      const { endpointID } = await endpointOf(request, endpoint_id);
      return { queued: await webhookDeliveries.redeliverFailed(endpointID, since, now()) };
    },
  });
}

function endpointUnknown(): ServiceError {
  return new ServiceError(404, "WEBHOOK_UNKNOWN", "You have no webhook endpoint with this id.");
}

function eventUnknown(): ServiceError {
  return new ServiceError(404, "EVENT_UNKNOWN", "The endpoint has no delivery of an event with this id.");
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
