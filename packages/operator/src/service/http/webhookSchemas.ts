import { z } from "zod";
import { EVENT_TYPES } from "../store/changes.ts";
import { MAX_ENDPOINTS } from "../store/webhookEndpoints.ts";
import { limit, strict, timestamp } from "./schemas.ts";

const endpointID = z.uuid().meta({ description: "The id of a webhook endpoint." });
const eventID = z.uuid().meta({ description: "The id of an event: the same in every delivery of the event." });
const url = z.string().min(1).max(2048).meta({
  description: "Where events are sent: an https URL on a public host.",
  example: "https://example.com/keyroot",
});
const types = z
  .array(z.enum(EVENT_TYPES))
  .max(EVENT_TYPES.length)
  .meta({ description: "The types of events that the endpoint receives; an empty list for all types." });
const secret = z.string().meta({
  description: "The secret that verifies deliveries: whsec_ and 32 bytes in base64. It is shown only once.",
});
const endpoint = strict({
  endpoint_id: endpointID,
  url: z.string(),
  types,
  created: timestamp,
  paused: timestamp.nullable().meta({ description: "When the endpoint was paused; null if it is not." }),
});
const state = z.enum(["pending", "delivered", "failed"]);
const status = z.int().nullable().meta({ description: "The HTTP status of the last response; null without one." });
const error = z.string().nullable().meta({ description: "Why the last attempt failed; null if it did not." });
const delivery = strict({
  event_id: eventID,
  type: z.enum(EVENT_TYPES),
  state: state.meta({ description: "`failed` deliveries are not sent again, unless they are redelivered." }),
  attempts: z.int().nonnegative().meta({ description: "The number of attempts so far." }),
  created: timestamp,
  last_attempt: timestamp.nullable().meta({ description: "When the last attempt ended; null before the first one." }),
  next_attempt: timestamp.nullable().meta({ description: "Of a pending delivery: when it is sent next." }),
  status,
  error,
});

/** The bodies of requests and successful responses about webhooks. */
export const webhookSchemas = {
  create: {
    body: strict({ url, types: types.optional() }),
    response: strict({ ...endpoint.shape, secret }),
  },
  list: { body: strict({}), response: strict({ endpoints: z.array(endpoint).max(MAX_ENDPOINTS) }) },
  update: {
    body: strict({
      endpoint_id: endpointID,
      url: url.optional(),
      types: types.optional(),
    }),
    response: endpoint,
  },
  pause: { body: strict({ endpoint_id: endpointID }), response: endpoint },
  resume: { body: strict({ endpoint_id: endpointID }), response: endpoint },
  delete: { body: strict({ endpoint_id: endpointID }), response: strict({ endpoint_id: endpointID }) },
  rotateSecret: {
    body: strict({ endpoint_id: endpointID }),
    response: strict({
      endpoint_id: endpointID,
      secret,
      previous_until: timestamp
        .nullable()
        .meta({ description: "Until then, deliveries are also signed with the earlier secrets." }),
    }),
  },
  test: {
    body: strict({ endpoint_id: endpointID }),
    response: strict({
      event_id: eventID,
      delivered: z.boolean().meta({ description: "Whether the endpoint returned a 2xx status." }),
      status,
      error,
      duration: z.int().nonnegative().meta({ description: "How long it took, in milliseconds." }),
    }),
  },
  listDeliveries: {
    body: strict({ endpoint_id: endpointID, state: state.optional(), limit, after: eventID.optional() }),
    response: strict({
      deliveries: z.array(delivery),
      next: eventID.nullable().meta({ description: "Send it as `after` to get the next page; null on the last page." }),
    }),
  },
  redeliver: {
    body: strict({ endpoint_id: endpointID, event_id: eventID }),
    response: strict({
      queued: z.int().nonnegative().meta({ description: "The number of deliveries that are sent again." }),
    }),
  },
  redeliverFailed: {
    body: strict({
      endpoint_id: endpointID,
      since: timestamp.meta({ description: "Only deliveries created at this time or later." }),
    }),
    response: strict({
      queued: z.int().nonnegative().meta({ description: "The number of deliveries that are sent again." }),
    }),
  },
} as const;
