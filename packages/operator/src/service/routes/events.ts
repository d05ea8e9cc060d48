import type { FastifyRequest } from "fastify";
import type { ServiceContext } from "../http/context.ts";
import { type App, defineOperation } from "../http/defineOperation.ts";
import { recordSchemas } from "../http/recordSchemas.ts";
import { decodeCursor, encodeCursor } from "../store/cursor.ts";
import { eventCursorSchema, toMessage } from "../store/events.ts";

/** A partner's operation on its events. `app` requires a partner's access token. */
export function eventRoutes(
  app: App,
  { events, now }: ServiceContext,
  partnerOf: (request: FastifyRequest) => { bizID: string },
): void {
  defineOperation(app, {
    path: "/v1/authdBizSrv/events/list",
    summary: "List what happened to the partner and its users after a cursor, the oldest events first",
    description:
      "Store `cursor` when you have processed the events, and send it as `after` in the next request. An empty list means that there is nothing new. An event has the same id and contents each time.",
    tag: "partner",
    errors: [404],
    schema: recordSchemas.listEvents,
    async handle({ limit, after }, request) {
      const { bizID } = partnerOf(request);
      const from = after === undefined ? undefined : decodeCursor(eventCursorSchema, after);
      const page = await events.list(bizID, from, limit, now());
      return { events: page.events.map(toMessage), cursor: encodeCursor(page.cursor) };
    },
  });
}
