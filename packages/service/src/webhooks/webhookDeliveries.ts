import { and, desc, eq, inArray, isNull, type SQL, sql } from "../api/database/drizzle.ts";
import type { EventType } from "../auditLog/recordChange.ts";
import { allDatabases, type Database, type Databases, readAll, rowsOf } from "../api/database/database.ts";
import type { DeliveredEvent } from "./events.ts";
import { events, webhookDeliveries } from "./tables.ts";
import type { WebhookEndpoint, WebhookEndpointStore } from "./webhookEndpoints.ts";

/** Maximum number of events per round of `dispatch`. */
const DISPATCHED_AT_ONCE = 500;
/** Maximum number of rows per DELETE statement. */
const DELETED_AT_ONCE = 1000;
/**
 * The tolerance in ms for differences between the replicas' clocks. An endpoint therefore also receives events that
 * seem to be older than the endpoint by up to this time.
 */
const CLOCK_TOLERANCE_MS = 60_000;

export type DeliveryState = "pending" | "delivered" | "failed";

/** A delivery that only this process may send for a limited time. */
export interface ClaimedDelivery {
  endpointID: string;
  position: number;
  claim: number;
  attempts: number;
  /** Start of the first attempt. */
  firstAttempt: number;
  event: DeliveredEvent;
}

/** A delivery after an attempt. `attempts` includes the last attempt. */
export interface FinishedDelivery extends ClaimedDelivery {
  state: DeliveryState;
  due: number;
  lastAttempt: number;
  /** The HTTP status. Null if there was no response. */
  status: number | null;
  /** The reason for the failure. Null after success. */
  error: string | null;
}

/** Stores the deliveries of events to endpoints, each in the database of its event. */
export class WebhookDeliveryStore {
  /** The home and regional databases, each database once. */
  readonly databases: readonly Database[];
  readonly #endpoints: WebhookEndpointStore;

  constructor(databases: Databases, endpoints: WebhookEndpointStore) {
    this.databases = allDatabases(databases);
    this.#endpoints = endpoints;
  }

  /**
   * Stores deliveries for the oldest events that have none. Endpoints of suspended partners also get deliveries. Two
   * replicas can call this at the same time.
   * @returns whether more events without deliveries may exist
   */
  async dispatch(database: Database, now: number): Promise<boolean> {
    const waiting = await database
      .select({ position: events.position, bizID: events.bizID })
      .from(events)
      .where(isNull(events.dispatched))
      .orderBy(events.position)
      .limit(DISPATCHED_AT_ONCE);
    if (waiting.length === 0) return false;
    // Read the endpoints after the events, to include endpoints that were created before a change was committed.
    const endpoints = await this.#endpoints.find("bizID", [...new Set(waiting.map(({ bizID }) => bizID))]);
    const ofPartner = Map.groupBy(endpoints, ({ bizID }) => bizID);
    await database.transaction(async (transaction) => {
      const positions = waiting.map(({ position }) => position);
      // Another replica that dispatches at the same time takes the events that are not locked.
      const taken = await transaction
        .select({ position: events.position, id: events.id, bizID: events.bizID, type: events.type, at: events.at })
        .from(events)
        .where(and(inArray(events.position, positions), isNull(events.dispatched)))
        .for("update", { skipLocked: true });
      const rows = taken.flatMap(({ position, id: eventID, bizID, type, at }) =>
        (ofPartner.get(bizID) ?? [])
          .filter((endpoint) => receives(endpoint, type, at))
          .map(({ endpointID }) => ({ position, endpointID, eventID, created: now, due: now })),
      );
      if (rows.length > 0) await insertDeliveries(transaction, rows);
      const done = taken.map(({ position }) => position);
      if (done.length > 0)
        await transaction.update(events).set({ dispatched: now }).where(inArray(events.position, done));
    });
    return waiting.length === DISPATCHED_AT_ONCE;
  }

  /**
   * Lists the endpoints that have a due delivery. It reads only a few index entries per endpoint, even if many
   * deliveries are due.
   */
  async endpointsDue(database: Database, now: number): Promise<string[]> {
    const result = await database.execute(sql`
      with recursive found as (
        (select endpoint_id from webhook_deliveries where state = 'pending' order by endpoint_id limit 1)
        union all
        select (select endpoint_id from webhook_deliveries
          where state = 'pending' and endpoint_id > found.endpoint_id order by endpoint_id limit 1)
        from found where found.endpoint_id is not null
      )
      select endpoint_id from found where exists (
        select from webhook_deliveries as delivery
        where delivery.state = 'pending' and delivery.endpoint_id = found.endpoint_id and delivery.due <= ${now})`);
    return rowsOf(result).map(({ endpoint_id }) => String(endpoint_id));
  }

  /**
   * Takes due deliveries of an endpoint. No other process can take them before `now + visibilityMs`.
   * @param limit maximum number of deliveries
   */
  async claim(
    database: Database,
    endpointID: string,
    { now, visibilityMs, limit }: { now: number; visibilityMs: number; limit: number },
  ): Promise<ClaimedDelivery[]> {
    const result = await database.execute(sql`
      with taken as (
        select position from webhook_deliveries
        where state = 'pending' and endpoint_id = ${endpointID} and due <= ${now}
        order by due limit ${limit} for update skip locked
      )
      update webhook_deliveries as delivery
      set due = ${now + visibilityMs}::bigint, claim = claim + 1, first_attempt = coalesce(first_attempt, ${now}::bigint)
      from taken join events as event using (position)
      where delivery.position = taken.position and delivery.endpoint_id = ${endpointID}
      returning delivery.position::float8, delivery.claim, delivery.attempts,
        delivery.first_attempt::float8 as "firstAttempt", event.id, event.type, event.user_id as "userID", event.data,
        event.at::float8`);
    const rows = rowsOf(result) as unknown as (Omit<ClaimedDelivery, "endpointID" | "event"> & DeliveredEvent)[];
    return rows.map(({ position, claim, attempts, firstAttempt, ...event }) => {
      return { endpointID, position, claim, attempts, firstAttempt, event };
    });
  }

  /** Stores the results of attempts, except for deliveries that another process has taken over. */
  async finish(database: Database, finished: readonly FinishedDelivery[]): Promise<void> {
    if (finished.length === 0) return;
    const rows = finished.map(({ endpointID: endpoint_id, lastAttempt: last_attempt, ...result }) => {
      const { position, claim, state, due, attempts, status, error } = result;
      return { position, endpoint_id, claim, state, due, attempts, last_attempt, status, error };
    });
    await database.execute(sql`
      update webhook_deliveries as delivery
      set state = result.state, due = result.due, attempts = result.attempts, last_attempt = result.last_attempt,
        status = result.status, error = result.error
      from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as result(position bigint, endpoint_id uuid, claim int,
        state text, due bigint, attempts int, last_attempt bigint, status int, error text)
      where delivery.position = result.position and delivery.endpoint_id = result.endpoint_id
        and delivery.claim = result.claim and delivery.state = 'pending'`);
  }

  /** Makes claimed but unsent deliveries due immediately, so that any replica can send them. */
  async release(database: Database, claimed: readonly ClaimedDelivery[], now: number): Promise<void> {
    for (const { position, endpointID, claim } of claimed)
      await database
        .update(webhookDeliveries)
        .set({ due: now })
        .where(
          and(
            eq(webhookDeliveries.position, position),
            eq(webhookDeliveries.endpointID, endpointID),
            eq(webhookDeliveries.claim, claim),
          ),
        );
  }

  /**
   * Delivers an event to an endpoint again.
   * @returns the number of deliveries, which is 0 if the endpoint never had this event
   */
  async redeliver(endpointID: string, eventID: string, now: number): Promise<number> {
    return this.#restart(
      and(eq(webhookDeliveries.endpointID, endpointID), eq(webhookDeliveries.eventID, eventID)),
      now,
    );
  }

  /** Repeats all failed deliveries that were created at `since` or later. */
  async redeliverFailed(endpointID: string, since: number, now: number): Promise<number> {
    return this.#restart(
      and(
        eq(webhookDeliveries.endpointID, endpointID),
        eq(webhookDeliveries.state, "failed"),
        sql`${webhookDeliveries.created} >= ${since}`,
      ),
      now,
    );
  }

  /**
   * Lists an endpoint's deliveries, newest first.
   * @param after the id of the last event on the previous page; undefined for the first page
   * @returns undefined if the endpoint never had a delivery of `after`
   */
  async list(
    endpointID: string,
    { state, after, limit }: { state?: DeliveryState | undefined; after?: string | undefined; limit: number },
  ) {
    const ofEndpoint = eq(webhookDeliveries.endpointID, endpointID);
    const { created, eventID } = webhookDeliveries;
    let start: SQL | undefined;
    if (after !== undefined) {
      const found = await readAll(this.databases, (database) =>
        database
          .select({ created })
          .from(webhookDeliveries)
          .where(and(ofEndpoint, eq(eventID, after))),
      );
      const [last] = found;
      if (last === undefined) return undefined;
      start = sql`(${created}, ${eventID}) < (${last.created}::bigint, ${after}::uuid)`;
    }
    const rows = await readAll(this.databases, (database) =>
      database
        .select({ delivery: webhookDeliveries, type: events.type })
        .from(webhookDeliveries)
        .innerJoin(events, eq(events.position, webhookDeliveries.position))
        .where(and(ofEndpoint, start, state && eq(webhookDeliveries.state, state)))
        .orderBy(desc(created), desc(eventID))
        .limit(limit),
    );
    return rows
      .map(({ delivery: { due, ...delivery }, type }) => ({
        ...delivery,
        type,
        nextAttempt: delivery.state === "pending" ? due : null,
      }))
      .sort((a, b) => b.created - a.created || (a.eventID < b.eventID ? 1 : -1))
      .slice(0, limit);
  }

  /** Counts pending deliveries, at most `limit` in each database. */
  async countPending(limit: number): Promise<number> {
    const counts = await readAll(this.databases, async (database) => {
      const some = database
        .select({ position: webhookDeliveries.position })
        .from(webhookDeliveries)
        .where(eq(webhookDeliveries.state, "pending"))
        .limit(limit)
        .as("some");
      return database.select({ pending: sql<number>`count(*)::int` }).from(some);
    });
    return counts.reduce((sum, { pending }) => sum + pending, 0);
  }

  /** Deletes some of the deliveries of deleted endpoints. */
  async dropOf(database: Database, endpointIDs: readonly string[]): Promise<void> {
    for (const endpointID of endpointIDs)
      await database.execute(sql`delete from webhook_deliveries where endpoint_id = ${endpointID} and position in (
        select position from webhook_deliveries where endpoint_id = ${endpointID} limit ${DELETED_AT_ONCE})`);
  }

  /** Deletes events older than `before` and the events' deliveries, oldest first. */
  async dropEvents(before: number): Promise<void> {
    for (const database of this.databases) {
      let deleted: unknown[];
      do {
        const oldest = sql`select position from events order by position limit ${DELETED_AT_ONCE}`;
        const result = await database.execute(
          sql`delete from events where at < ${before} and position in (${oldest}) returning 1`,
        );
        deleted = rowsOf(result);
        // Continue even if fewer rows than the limit were deleted. Because replicas' clocks differ, one of the rows
        // with the lowest positions may be newer than `before`, and older rows may follow it.
      } while (deleted.length > 0);
    }
  }

  async #restart(where: ReturnType<typeof and>, now: number): Promise<number> {
    const restarted = await readAll(this.databases, (database) =>
      database
        .update(webhookDeliveries)
        // The new claim number prevents a process that is sending the delivery from changing this row.
        .set({
          state: "pending",
          due: now,
          attempts: 0,
          firstAttempt: null,
          claim: sql`${webhookDeliveries.claim} + 1`,
        })
        .where(where)
        .returning({ eventID: webhookDeliveries.eventID }),
    );
    return restarted.length;
  }
}

function receives({ types, created }: WebhookEndpoint, type: EventType, at: number): boolean {
  return (types === null || types.includes(type)) && at >= created - CLOCK_TOLERANCE_MS;
}

async function insertDeliveries(
  transaction: Database,
  rows: readonly { position: number; endpointID: string; eventID: string; created: number; due: number }[],
): Promise<void> {
  await transaction.execute(sql`insert into webhook_deliveries (position, endpoint_id, event_id, created, due)
    select position, "endpointID", "eventID", created, due from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
      as delivery(position bigint, "endpointID" uuid, "eventID" uuid, created bigint, due bigint)
    on conflict do nothing`);
}
