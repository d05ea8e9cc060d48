import { z } from "zod";
import { EVENT_TYPES } from "../store/changes.ts";
import { CURSOR_FORM } from "../store/cursor.ts";
import { limit, strict } from "./schemas.ts";

const cursor = z.string().regex(CURSOR_FORM);
// Any names and values: a replica of this version may read what a newer one stored.
const data = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));

const event = strict({
  type: z.string().meta({ description: `What happened: ${EVENT_TYPES.join(", ")}.`, example: EVENT_TYPES[0] }),
  timestamp: z.string().meta({ description: "When, in UTC (RFC 3339).", example: "2027-01-15T08:00:00.000Z" }),
  id: z.uuid().meta({ description: "The id of the event. An event that is listed again has the same id." }),
  data: data.meta({ description: "Ids and values of what changed, such as `user_id` and `keyID`." }),
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
} as const;
