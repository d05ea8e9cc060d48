import { answerFrom } from "../api/answerFrom.ts";
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { ServiceError } from "../api/base/errors.ts";
import { EVENT_TYPES, type EventType } from "../auditLog/recordChange.ts";
import { type Call, operationsWith } from "../api/defineOperation.ts";
import { count, cursor, empty, limit, named, page, strict, timestamp } from "../api/fields.ts";
import { decodeCursor, encodeCursor } from "../api/database/cursor.ts";
import type { ApiContext } from "../api/context.ts";
import type { WebhookSender } from "./sendWebhook.ts";
import { checkEndpointUrl } from "./endpointUrl.ts";
import { event } from "./eventSchemas.ts";
import { type EventStore, eventCursorSchema, toMessage } from "./events.ts";
import type { WebhookDeliveryStore } from "./webhookDeliveries.ts";
import { MAX_ENDPOINTS, type WebhookEndpoint, type WebhookEndpointStore } from "./webhookEndpoints.ts";

/** The timeout of a test delivery in ms. It is shorter than other timeouts, because a caller waits for the result. */
const TEST_TIMEOUT_MS = 8_000;

const endpointID = z.uuid().meta({ description: "The id of a webhook endpoint." });
const eventID = z.uuid().meta({ description: "The id of an event. It is the same in every delivery of the event." });
const url = z.string().min(1).max(2048).meta({
  description: "The URL to which the service sends events. It must use https, and its host must be public.",
  example: "https://example.com/keyroot",
});
const types = z
  .array(z.enum(EVENT_TYPES))
  .max(EVENT_TYPES.length)
  .meta({ description: "The event types that the endpoint receives. An empty list means all types." });
const secret = z.string().meta({
  description:
    "The secret with which you verify deliveries: whsec_ and 32 bytes in base64. The service returns it only once.",
});
const ofEndpoint = strict({ endpoint_id: endpointID });
const endpoint = named("Webhook", "An endpoint that receives events.", {
  endpoint_id: endpointID,
  url: z.string(),
  types,
  created: timestamp,
  paused: timestamp.nullable().meta({ description: "The start of the pause. Null while the endpoint is active." }),
});
const state = z.enum(["pending", "delivered", "failed"]);
const status = z.int().nullable().meta({ description: "The HTTP status of the last response. Null if there is none." });
const error = z.string().nullable().meta({ description: "The reason for the last failure. Null if there is none." });
const delivery = named("WebhookDelivery", "A delivery of an event.", {
  event_id: eventID,
  type: z.enum(EVENT_TYPES),
  state: state.meta({
    description: "The state of the delivery. The service repeats a `failed` delivery only on request.",
  }),
  attempts: count("attempts so far"),
  created: timestamp,
  last_attempt: timestamp
    .nullable()
    .meta({ description: "The end of the last attempt. Null before the first attempt." }),
  next_attempt: timestamp
    .nullable()
    .meta({ description: "The time of the next attempt of a pending delivery. Null for other deliveries." }),
  status,
  error,
});
const queued = strict({ queued: count("deliveries that are sent again") });

export interface WebhookContext extends ApiContext {
  events: EventStore;
  webhookEndpoints: WebhookEndpointStore;
  webhookDeliveries: WebhookDeliveryStore;
  webhookSender: WebhookSender;
  /** Whether the service may send events over plain http and to private addresses. */
  allowPrivateWebhooks: boolean;
}

const defineOperation = operationsWith<WebhookContext>();

export const webhookOperations = [
  defineOperation({
    path: "/v1/authdBizSrv/events/list",
    callers: ["partner"],
    summary: "List the events of the partner and its users after a cursor, oldest first",
    description:
      "Process the events, store `cursor`, and send it as `after` in the next request. If there are no new events, the list is empty. An event has the same id and contents each time. It is listed as soon as all earlier transactions of its database have ended, usually within milliseconds. Events of simultaneous changes and of different regions may be in any order. While a regional database is unreachable, the request fails with UNAVAILABLE, and the cursor stays valid.",
    body: strict({
      limit,
      after: cursor.optional().meta({
        description: "The `cursor` of an earlier response. Without it, the list begins with the oldest stored event.",
      }),
    }),
    answer: named("EventPage", "The events after a cursor, the oldest first.", {
      events: z.array(event),
      cursor: cursor.meta({ description: "The cursor after these events. Send it as `after` to get later events." }),
    }),
    errors: [404],
    async handle({ limit, after }, { context, principal: { bizID } }) {
      const from = after === undefined ? undefined : decodeCursor(eventCursorSchema, after);
      const page = await context.events.list(bizID, from, limit, context.now());
      return { events: page.events.map(toMessage), cursor: encodeCursor(page.cursor) };
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/webhooks/create",
    callers: ["partner", "partnerStaff"],
    idempotent: true,
    summary: "Add an endpoint that receives events",
    description: "The endpoint receives all events after its creation. A partner may have at most 10 endpoints.",
    body: strict({ url, types: types.optional() }),
    answer: named("NewWebhook", "A new endpoint with its secret.", { ...endpoint.shape, secret }),
    errors: [409],
    async handle({ url, types = [] }, { context, principal: { bizID }, author, repeatable }) {
      const fields = { url: checkEndpointUrl(url, context.allowPrivateWebhooks), types: toTypes(types) };
      const options = { now: context.now(), author, repeatable };
      const { endpoint, secret } = await context.webhookEndpoints.create(bizID, fields, options);
      return { ...toEndpoint(endpoint), secret };
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/webhooks/list",
    callers: ["partner", "partnerStaff"],
    reads: true,
    summary: "List the partner's webhook endpoints in the order of creation, without their secrets",
    body: empty,
    answer: strict({
      enabled: z.boolean().meta({ description: "true if the service sends webhooks." }),
      endpoints: z.array(endpoint).max(MAX_ENDPOINTS),
    }),
    async handle(_body, { context: { webhookEndpoints }, principal: { bizID } }) {
      const endpoints = await webhookEndpoints.list(bizID);
      return { enabled: webhookEndpoints.enabled, endpoints: endpoints.map(toEndpoint) };
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/webhooks/update",
    callers: ["partner", "partnerStaff"],
    summary: "Change the URL or the event types of a webhook endpoint",
    description: "The change also applies to waiting deliveries. Repeating the request has no effect.",
    body: strict({ endpoint_id: endpointID, url: url.optional(), types: types.optional() }),
    answer: endpoint,
    errors: [404],
    async handle({ endpoint_id, url, types }, { context, principal: { bizID }, author }) {
      const checked = url === undefined ? undefined : checkEndpointUrl(url, context.allowPrivateWebhooks);
      const changes = { url: checked, types: types && toTypes(types) };
      const changed = await context.webhookEndpoints.update(bizID, endpoint_id, changes, context.now(), author);
      return toEndpoint(changed ?? endpointUnknown());
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/webhooks/pause",
    callers: ["partner", "partnerStaff"],
    summary: "Pause a webhook endpoint, so that its deliveries wait",
    description: "Repeating the request has no effect.",
    body: ofEndpoint,
    answer: endpoint,
    errors: [404],
    handle: ({ endpoint_id }, call) => setPaused(endpoint_id, true, call),
  }),

  defineOperation({
    path: "/v1/authdBizSrv/webhooks/resume",
    callers: ["partner", "partnerStaff"],
    summary: "Resume a webhook endpoint, and send its waiting deliveries",
    description: "Repeating the request has no effect.",
    body: ofEndpoint,
    answer: endpoint,
    errors: [404],
    handle: ({ endpoint_id }, call) => setPaused(endpoint_id, false, call),
  }),

  defineOperation({
    path: "/v1/authdBizSrv/webhooks/delete",
    callers: ["partner", "partnerStaff"],
    summary: "Delete a webhook endpoint, and all deliveries to it",
    description: "Repeating the request has no effect.",
    body: ofEndpoint,
    answer: ofEndpoint,
    async handle({ endpoint_id }, { context, principal: { bizID }, author }) {
      await context.webhookEndpoints.delete(bizID, endpoint_id, context.now(), author);
      return { endpoint_id };
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/webhooks/rotateSecret",
    callers: ["partner", "partnerStaff"],
    idempotent: true,
    summary: "Replace the secret of a webhook endpoint",
    description:
      "For 24 hours, the service signs deliveries with both the new and the earlier secret, and after that only with the new one.",
    body: ofEndpoint,
    answer: named("RotatedSecret", "The new secret of an endpoint.", {
      endpoint_id: endpointID,
      secret,
      previous_until: timestamp
        .nullable()
        .meta({ description: "The time until which the service also signs deliveries with the earlier secrets." }),
    }),
    errors: [404, 409],
    async handle({ endpoint_id }, { context, principal: { bizID }, author, repeatable }) {
      const options = { now: context.now(), author, repeatable };
      const made = (await context.webhookEndpoints.rotateSecret(bizID, endpoint_id, options)) ?? endpointUnknown();
      return { endpoint_id, secret: made.secret, previous_until: made.previousUntil };
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/webhooks/test",
    callers: ["partner", "partnerStaff"],
    unverified: "It sends a test event to an endpoint that an administrator added with a verification.",
    summary: "Send a test event to a webhook endpoint, and return the endpoint's response",
    description: "The event has the type webhook.test. The service sends it once, even to a paused endpoint.",
    body: ofEndpoint,
    answer: named("WebhookTest", "An endpoint's response to a test.", {
      event_id: eventID,
      delivered: z.boolean().meta({ description: "true if the endpoint returned a 2xx status." }),
      status,
      error,
      duration: z.int().nonnegative().meta({ description: "The time in milliseconds until the response." }),
    }),
    errors: [404],
    async handle({ endpoint_id }, { context, principal: { bizID } }) {
      const { webhookEndpoints, webhookSender, now } = context;
      const { url } = (await webhookEndpoints.get(bizID, endpoint_id)) ?? endpointUnknown();
      const event = { id: randomUUID(), type: "webhook.test" as const, userID: null, data: {}, at: now() };
      const secrets = await webhookEndpoints.secretsOf(endpoint_id, now());
      if (secrets.length === 0) endpointUnknown();
      const started = performance.now();
      const { status, error } = await webhookSender.send(url, event, secrets, now(), TEST_TIMEOUT_MS);
      const duration = Math.round(performance.now() - started);
      return { event_id: event.id, delivered: error === null, status, error, duration };
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/webhooks/listDeliveries",
    callers: ["partner", "partnerStaff"],
    reads: true,
    summary: "List the deliveries to an endpoint in pages, newest first",
    body: strict({ endpoint_id: endpointID, state: state.optional(), limit, after: eventID.optional() }),
    answer: page("deliveries", delivery, eventID),
    errors: [404],
    async handle({ endpoint_id, ...options }, call) {
      await requireEndpoint(endpoint_id, call);
      const deliveries = (await call.context.webhookDeliveries.list(endpoint_id, options)) ?? eventUnknown();
      const next = deliveries.length === options.limit ? (deliveries.at(-1)?.eventID ?? null) : null;
      return { deliveries: deliveries.map((row) => answerFrom(delivery, row)), next };
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/webhooks/redeliver",
    callers: ["partner", "partnerStaff"],
    unverified: "It sends an event again to an endpoint that receives the event anyway.",
    summary: "Deliver one event to an endpoint again",
    description:
      "The event keeps its id. The request succeeds only if the service still has an earlier delivery of the event to this endpoint.",
    body: strict({ endpoint_id: endpointID, event_id: eventID }),
    answer: queued,
    errors: [404],
    async handle({ endpoint_id, event_id }, call) {
      await requireEndpoint(endpoint_id, call);
      const { webhookDeliveries, now } = call.context;
      const queued = await webhookDeliveries.redeliver(endpoint_id, event_id, now());
      return queued === 0 ? eventUnknown() : { queued };
    },
  }),

  defineOperation({
    path: "/v1/authdBizSrv/webhooks/redeliverFailed",
    callers: ["partner", "partnerStaff"],
    unverified: "It sends events again to an endpoint that receives them anyway.",
    summary: "Repeat all failed deliveries to an endpoint",
    body: strict({
      endpoint_id: endpointID,
      since: timestamp.meta({ description: "Repeat only deliveries that were created at or after this time." }),
    }),
    answer: queued,
    errors: [404],
    async handle({ endpoint_id, since }, call) {
      await requireEndpoint(endpoint_id, call);
      const { webhookDeliveries, now } = call.context;
      return { queued: await webhookDeliveries.redeliverFailed(endpoint_id, since, now()) };
    },
  }),
];

type PartnerCall = Call<"partner" | "partnerStaff", WebhookContext>;

async function setPaused(endpointID: string, pause: boolean, { context, principal, author }: PartnerCall) {
  const { bizID } = principal;
  const endpoint = await context.webhookEndpoints.setPaused({ bizID, endpointID }, pause, context.now(), author);
  return toEndpoint(endpoint ?? endpointUnknown());
}

async function requireEndpoint(endpointID: string, { context, principal: { bizID } }: PartnerCall): Promise<void> {
  if ((await context.webhookEndpoints.get(bizID, endpointID)) === undefined) endpointUnknown();
}

function endpointUnknown(): never {
  const message = "You have no webhook endpoint with this id. List your endpoints to find the right id.";
  throw new ServiceError(404, "WEBHOOK_UNKNOWN", message);
}

function eventUnknown(): never {
  const message = "The endpoint has no delivery of an event with this id. List the endpoint's deliveries.";
  throw new ServiceError(404, "EVENT_UNKNOWN", message);
}

function toEndpoint({ types, ...row }: WebhookEndpoint) {
  return answerFrom(endpoint, { ...row, types: types ?? [] });
}

/** Converts the event types of a request. An empty list means all event types, for which null is stored. */
function toTypes(types: EventType[]): EventType[] | null {
  return types.length === 0 ? null : types;
}
