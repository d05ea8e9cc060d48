import { and, asc, eq, sql } from "../api/database/drizzle.ts";
import { z } from "zod";
import { ServiceError } from "../api/base/errors.ts";
import type { EventType } from "../auditLog/recordChange.ts";
import {
  type Database,
  type Databases,
  distinctDatabases,
  type Place,
  PLACES,
  rowsOf,
} from "../api/database/database.ts";
import { events } from "./tables.ts";

type StoredEvent = Pick<typeof events.$inferSelect, "id" | "type" | "userID" | "data" | "at">;

/** An event that is sent to an endpoint: a stored event, or the event of a test delivery. */
export interface DeliveredEvent extends Omit<StoredEvent, "type"> {
  type: EventType | "webhook.test";
}

const MAX_XID = 2n ** 64n - 1n;
/** Number of days for which events and deliveries are kept. */
export const EVENT_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Maximum time in ms until an event is visible, because replicas' clocks differ and transactions may commit late. */
const TOLERANCE_MS = 60 * 60 * 1000;

/** The last event that a partner has read from one database. */
const anchorSchema = z.strictObject({
  xid: z.string().refine((digits) => /^\d{1,20}$/.test(digits) && BigInt(digits) <= MAX_XID),
  position: z.int().nonnegative(),
  id: z.uuid(),
});
type Anchor = z.output<typeof anchorSchema>;

/**
 * A partner's position in the events. `seen` is when the partner last reached the end of the events. If this never
 * happened, it is when the partner began to read.
 */
export const eventCursorSchema = z.strictObject({
  seen: z.int().nonnegative(),
  read: z.partialRecord(z.enum(PLACES), anchorSchema),
});
export type EventCursor = z.output<typeof eventCursorSchema>;

type Row = StoredEvent & Anchor;

/** Reads the outboxes of events in all databases. */
export class EventStore {
  readonly #databases: ReadonlyMap<Place, Database>;

  constructor(databases: Databases) {
    this.#databases = distinctDatabases(databases);
  }

  /**
   * Lists a partner's events after a cursor, oldest first. Within each database, the events of earlier transactions
   * come first, and each transaction's events have the order of insertion. An event is listed only after all earlier
   * transactions in its database have ended, so that an event that is committed late is not skipped.
   * @param cursor the position after which the list begins; undefined lists all stored events
   * @param limit maximum number of events
   * @returns the events, and the cursor after the last one
   * @throws ServiceError CURSOR_UNKNOWN
   */
  async list(bizID: string, cursor: EventCursor | undefined, limit: number, now: number) {
    const pages = await Promise.all(
      [...this.#databases].map(async ([place, database]) => {
        if (cursor !== undefined) await this.#checkCursor(database, bizID, cursor.read[place], cursor.seen, now);
        return { place, rows: await readPage(database, bizID, cursor?.read[place], limit) };
      }),
    );
    const { taken, read } = merge(pages, cursor?.read ?? {}, limit);
    const isComplete = pages.every(({ rows }) => rows.length < limit) && taken.length < limit;
    return { events: taken, cursor: { seen: isComplete ? now : (cursor?.seen ?? now), read } };
  }

  /**
   * Checks that no unread event was deleted, and that the database was not restored to an earlier state. Otherwise, the
   * partner would miss events. Events are deleted in the order of `position`.
   */
  async #checkCursor(database: Database, bizID: string, anchor: Anchor | undefined, seen: number, now: number) {
    if (anchor !== undefined) {
      const { xid, position, id } = anchor;
      const [state = {}] = rowsOf(
        await database.execute(sql`select
          ${xid}::xid8 < pg_snapshot_xmax(pg_current_snapshot()) as is_past,
          exists (select from events where position = ${position}::bigint and xid = ${xid}::xid8
            and id = ${id}::uuid and biz_id = ${bizID}) as is_stored,
          exists (select from events where position <= ${position}::bigint) as has_older`),
      );
      if (state["is_past"] !== true) throw cursorUnknown();
      if (state["is_stored"] === true) return;
      // Events that are older than the cursor's event are still stored, so that event was not deleted because of its
      // age. Therefore the database was restored to an earlier state.
      if (state["has_older"] === true) throw cursorUnknown();
    }
    if (seen < now - EVENT_DAYS * DAY_MS + TOLERANCE_MS) throw cursorUnknown();
  }
}

function cursorUnknown(): ServiceError {
  const message =
    "The service cannot continue from this cursor. Either the cursor is too old, or a database was restored to an earlier state. Read the events again without `after`, and ignore events that you already processed.";
  return new ServiceError(404, "CURSOR_UNKNOWN", message);
}

function readPage(database: Database, bizID: string, anchor: Anchor | undefined, limit: number): Promise<Row[]> {
  const { id, type, userID, data, at, xid, position } = events;
  const isAfter = anchor && sql`(${xid}, ${position}) > (${anchor.xid}::xid8, ${anchor.position}::bigint)`;
  return database
    .select({ id, type, userID, data, at, xid, position })
    .from(events)
    .where(and(eq(events.bizID, bizID), sql`${xid} < pg_snapshot_xmin(pg_current_snapshot())`, isAfter))
    .orderBy(asc(xid), asc(position))
    .limit(limit);
}

/** Merges the pages of all databases by the events' times, and keeps the order within each page. */
function merge(pages: readonly { place: Place; rows: readonly Row[] }[], before: EventCursor["read"], limit: number) {
  const read = { ...before };
  const heads = pages.map(({ place, rows }) => ({ place, rows, next: 0 }));
  const taken: StoredEvent[] = [];
  while (taken.length < limit) {
    let first: { head: (typeof heads)[number]; row: Row } | undefined;
    for (const head of heads) {
      const row = head.rows[head.next];
      if (row !== undefined && (first === undefined || row.at < first.row.at)) first = { head, row };
    }
    if (first === undefined) break;
    const { head, row } = first;
    const { xid, position, ...event } = row;
    head.next++;
    read[head.place] = { xid, position, id: row.id };
    taken.push(event);
  }
  return { taken, read };
}

/** Converts an event to the API's form. Webhooks use the same form. */
export function toMessage({ type, id, userID, data, at }: DeliveredEvent) {
  return {
    type,
    at,
    id,
    data: { ...(userID !== null && { user_id: userID }), ...data },
  };
}
