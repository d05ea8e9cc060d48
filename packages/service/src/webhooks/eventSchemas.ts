import { z } from "zod";
import { amount, data, holdEndsAt, named, region, strict, timestamp, tokenID, userID } from "../api/fields.ts";
import { EVENT_TYPES, type EventType } from "../auditLog/recordChange.ts";
import { changedKeyID, key, keyID, keyNumber, root, transaction } from "../keys/fields.ts";
import type { DeliveredEvent } from "./events.ts";

const eventID = z.uuid().meta({ description: "The id of the event. It is the same each time the event is listed." });

/** An event of any type, also of types that a newer replica added. */
export const event = named("Event", "A change of the partner or one of its users.", {
  type: z
    .string()
    .meta({ description: `The kind of change, one of: ${EVENT_TYPES.join(", ")}.`, example: EVENT_TYPES[0] }),
  at: timestamp,
  id: eventID,
  data: data.meta({ description: "Ids and values of the change, such as `user_id` and `key_id`." }),
});

const ofUser = { user_id: userID };
const ofToken = { ...ofUser, token_id: tokenID };
const ofKey = { ...ofUser, key_id: keyID };
const registered = {
  ...ofKey,
  possession: key.possession,
  hold_ends_at: holdEndsAt,
  after_withdrawal: z.boolean().meta({ description: "true if an earlier key was withdrawn or discarded." }),
};
const ofChange = { ...ofUser, number: keyNumber, key_id: changedKeyID };
const submitted = { ...ofChange, possession: key.possession, hold_ends_at: holdEndsAt };
const block = amount.meta({ description: "The number of the transaction's block." });

/** Each type of event: when the service sends it, and its data. */
const KINDS: Record<DeliveredEvent["type"], readonly [when: string, data: z.ZodRawShape]> = {
  "user.created": ["A user was created.", { ...ofUser, region }],
  "refreshToken.created": ["A user got a refresh token.", ofToken],
  "refreshToken.revoked": ["A user's refresh token was revoked.", ofToken],
  "key.registered": ["A user's key was registered.", registered],
  "key.pending": ["The hold period of a key began. The key can be withdrawn or discarded.", registered],
  "key.conflict": ["A conflicting key was offered for a user.", ofKey],
  "key.withdrawn": ["The user withdrew the key.", ofKey],
  "key.discarded": ["The partner discarded the key.", ofKey],
  "key.published": ["The key is on the chain.", { ...ofKey, root, transaction, block }],
  "keyChange.submitted": ["A user's app submitted a change of its key.", submitted],
  "keyChange.held": ["The hold period of a change began. The owner and the partner can object.", submitted],
  "keyChange.objected": ["Somebody objected to the change.", ofChange],
  "keyChange.approved": ["The partner approved the change after an objection.", ofChange],
  // A statement without a key is never on the chain.
  "keyChange.published": [
    "The changed key is on the chain, or the account is void.",
    { ...ofChange, root: root.optional(), transaction: transaction.optional(), block: block.optional() },
  ],
  "keyChange.taken": ["Another key is on the chain for the change's slot.", ofChange],
  "partner.suspended": ["The operator suspended the partner.", {}],
  "webhook.test": ["The partner requested a test of the endpoint.", {}],
};

/** The schema of each type of event. Its name in the API description is like `KeyPublishedEvent`. */
export const EVENT_SCHEMAS = mapTypes((type, [when, shape]) =>
  named(schemaNameOf(type), when, { type: z.literal(type), at: timestamp, id: eventID, data: strict(shape) }),
);

/** The requests of webhooks, for the API description (OpenAPI 3.1, "webhooks"). */
export const webhooks: Record<string, object> = mapTypes((type, [when]) => ({
  post: {
    operationId: schemaNameOf(type).replace(/^./, (letter) => letter.toLowerCase()),
    tags: ["partner"],
    summary: when.replace(/\.( .*)?$/, ""),
    description: `${when} The request is signed as Standard Webhooks defines (standardwebhooks.com). Verify the signature of the body before you parse it.`,
    security: [],
    parameters: [
      header("webhook-id", "The id of the event. It is the same in every delivery of the event.", "string"),
      header("webhook-timestamp", "The time of the delivery in seconds since 1970-01-01, UTC.", "integer"),
      header("webhook-signature", "One or more signatures of the delivery, separated by spaces.", "string"),
    ],
    requestBody: {
      required: true,
      content: { "application/json": { schema: { $ref: `#/components/schemas/${schemaNameOf(type)}` } } },
    },
    responses: {
      "2XX": { description: "The event was received. The service ignores the body of the response." },
      "4XX": { description: "The event was not received. The service repeats the delivery." },
    },
  },
}));

function header(name: string, description: string, type: "string" | "integer") {
  return { name, in: "header", required: true, description, schema: { type } };
}

function schemaNameOf(type: EventType | "webhook.test"): string {
  return `${type.replace(/(?:^|\.)\w/g, (start) => start.slice(-1).toUpperCase())}Event`;
}

function mapTypes<Value>(map: (type: DeliveredEvent["type"], kind: (typeof KINDS)["webhook.test"]) => Value) {
  return Object.fromEntries(
    ([...EVENT_TYPES, "webhook.test"] as const).map((type) => [type, map(type, KINDS[type])]),
  ) as Record<DeliveredEvent["type"], Value>;
}
