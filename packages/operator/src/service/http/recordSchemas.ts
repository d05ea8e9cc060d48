import { z } from "zod";
import { ACTIONS, ACTOR_KINDS, EVENT_TYPES } from "../store/changes.ts";
import { CURSOR_FORM } from "../store/cursor.ts";
import { bizID, limit, strict, timestamp, userIDHex } from "./schemas.ts";

const cursor = z.string().regex(CURSOR_FORM);
// Any names and values: a replica of this version may read what a newer one stored.
const data = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));

const event = strict({
  type: z.string().meta({ description: `What happened: ${EVENT_TYPES.join(", ")}.`, example: EVENT_TYPES[0] }),
  timestamp: z.string().meta({ description: "When, in UTC (RFC 3339).", example: "2027-01-15T08:00:00.000Z" }),
  id: z.uuid().meta({ description: "The id of the event. An event that is listed again has the same id." }),
  data: data.meta({ description: "Ids and values of what changed, such as `user_id` and `keyID`." }),
});

const auditFilter = {
  action: z.enum(ACTIONS).optional().meta({ description: "Only entries with this action." }),
  actor_kind: z.enum(ACTOR_KINDS).optional().meta({ description: "Only changes by actors of this kind." }),
  actor_id: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,64}$/)
    .optional()
    .meta({ description: "Only changes by the server token, user (`user_id`) or person with this id." }),
  user_id_hex: userIDHex.optional().meta({ description: "Only entries about this user: 40 hex digits." }),
  since: timestamp.optional().meta({ description: "Only entries of this time or later." }),
  until: timestamp.optional().meta({ description: "Only entries before this time." }),
  limit,
  after: cursor.optional().meta({ description: "The `next` of the page before. Default: the first page." }),
};
const orNull = (what: string) =>
  z
    .string()
    .nullable()
    .meta({ description: `${what}; null if there is none.` });
const entry = strict({
  id: z.uuid().meta({ description: "The id of the entry." }),
  at: timestamp,
  action: z.string().meta({ description: `What was done: ${ACTIONS.join(", ")}.`, example: "user.created" }),
  actor: strict({
    kind: z.string().meta({ description: `Who did it: ${ACTOR_KINDS.join(", ")}.`, example: "partner" }),
    id: orNull("The id of the server's refresh token, the user or the person"),
    name: orNull("The name of a person"),
    token_id: orNull("The id of the refresh token behind the access token"),
  }),
  biz_id: orNull("The partner that was changed, or whose user was"),
  user_id: orNull("The user that was changed"),
  data: data.meta({ description: "Further ids and values of what was changed. It contains no secret." }),
  request_id: orNull("The id of the request, which the service's log contains"),
  address: orNull("The IP address of the caller"),
});
const auditPage = strict({
  entries: z.array(entry),
  next: cursor.nullable().meta({ description: "Send it as `after` to get the next page; null on the last page." }),
});

/** The bodies of requests and successful responses about recorded changes. */
export const recordSchemas = {
  listEvents: {
    body: strict({
      limit,
      after: cursor.optional().meta({
        description: "The `cursor` of an earlier response. Without it, the list begins with the oldest stored event.",
      }),
    }),
    response: strict({
      events: z.array(event),
      cursor: cursor.meta({ description: "Send it as `after` to get the events after these." }),
    }),
  },
  listAudit: { body: strict(auditFilter), response: auditPage },
  listAuditOf: { body: strict({ biz_id: bizID.optional(), ...auditFilter }), response: auditPage },
} as const;
