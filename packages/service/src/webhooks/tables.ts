import {
  bigint,
  customType,
  index,
  integer,
  isNull,
  pgTable,
  primaryKey,
  sql,
  text,
  uuid,
} from "../api/database/drizzle.ts";
import type { EventType } from "../auditLog/recordChange.ts";
import { changeColumns } from "../auditLog/tables.ts";
import { timestampMs } from "../api/database/columns.ts";
import { requestColumns } from "../api/database/idempotency.ts";
import { partners } from "../partners/tables.ts";

/** PostgreSQL's 64-bit transaction id in decimal digits. PostgreSQL never reuses these ids. */
const xid8 = customType<{ data: string }>({ dataType: () => "xid8" });

/**
 * The outbox of events for partners, in every database.
 * - `id`: the id by which receivers recognize duplicates.
 * - `xid`: the transaction of the change. All transactions below the snapshot's `xmin` have ended, so a reader that
 *   follows the order of `xid` skips no event.
 * - `dispatched`: null until the deliveries to the partner's endpoints are stored.
 */
export const events = pgTable(
  "events",
  {
    ...changeColumns(),
    bizID: text("biz_id").notNull(),
    xid: xid8("xid")
      .notNull()
      .default(sql`pg_current_xact_id()`),
    type: text("type").$type<EventType>().notNull(),
    dispatched: timestampMs("dispatched"),
  },
  (table) => [
    index("events_of_partner").on(table.bizID, table.xid, table.position),
    index("events_to_dispatch").on(table.position).where(isNull(table.dispatched)),
  ],
);

/**
 * Partners' webhook endpoints, in the home database. `types` is null for all types. Active endpoints have no `paused`.
 */
export const webhookEndpoints = pgTable(
  "webhook_endpoints",
  {
    endpointID: uuid("endpoint_id").primaryKey(),
    bizID: text("biz_id")
      .notNull()
      .references(() => partners.bizID),
    url: text("url").notNull(),
    types: text("types").array().$type<EventType[]>(),
    created: timestampMs("created").notNull(),
    paused: timestampMs("paused"),
  },
  (table) => [index("webhook_endpoints_of_partner").on(table.bizID, table.created, table.endpointID)],
);

/**
 * The secrets that sign an endpoint's deliveries, in the home database. Each secret is encrypted with the configured
 * webhook key `key_id`. A replaced secret still signs until the time `until`.
 */
export const webhookSecrets = pgTable(
  "webhook_secrets",
  {
    secretID: uuid("secret_id").primaryKey(),
    endpointID: uuid("endpoint_id")
      .notNull()
      .references(() => webhookEndpoints.endpointID, { onDelete: "cascade" }),
    keyID: text("key_id").notNull(),
    sealed: text("sealed").notNull(),
    created: timestampMs("created").notNull(),
    until: timestampMs("until"),
    ...requestColumns(),
  },
  (table) => [index("webhook_secrets_of_endpoint").on(table.endpointID, table.created)],
);

/**
 * Deliveries, in the databases of the delivered events.
 * - `position`: the position of the event.
 * - `due`: the time at which a pending delivery is sent next.
 * - `error`: the reason for the last failure.
 *
 * A replica that sends a delivery increases `claim`, and sets `due` to the time when another replica may take over. If
 * the replica's result arrives after another one took over, the result changes nothing.
 */
export const webhookDeliveries = pgTable(
  "webhook_deliveries",
  {
    position: bigint("position", { mode: "number" })
      .notNull()
      .references(() => events.position, { onDelete: "cascade" }),
    endpointID: uuid("endpoint_id").notNull(),
    eventID: uuid("event_id").notNull(),
    state: text("state").$type<"pending" | "delivered" | "failed">().notNull().default("pending"),
    created: timestampMs("created").notNull(),
    due: timestampMs("due").notNull(),
    claim: integer("claim").notNull().default(0),
    attempts: integer("attempts").notNull().default(0),
    firstAttempt: timestampMs("first_attempt"),
    lastAttempt: timestampMs("last_attempt"),
    status: integer("status"),
    error: text("error"),
  },
  (table) => [
    primaryKey({ columns: [table.position, table.endpointID] }),
    index("webhook_deliveries_due")
      .on(table.endpointID, table.due)
      .where(sql`${table.state} = 'pending'`),
    index("webhook_deliveries_of_event").on(table.endpointID, table.eventID),
    index("webhook_deliveries_of_endpoint").on(table.endpointID, table.created, table.eventID),
  ],
);
