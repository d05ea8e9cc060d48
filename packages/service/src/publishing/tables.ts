import {
  bigint,
  index,
  integer,
  isNull,
  jsonb,
  numeric,
  pgTable,
  primaryKey,
  serial,
  text,
  timestamp,
  uuid,
} from "../api/database/drizzle.ts";
import { batches } from "../keys/tables.ts";
import type { Region } from "keyroot/internal/identity";
import type { Author } from "../api/base/author.ts";
import type { PublishedBatch, PublisherReport } from "./publisherReport.ts";
import { timestampMs } from "../api/database/columns.ts";

/** The number of a partner's users in a batch, in the region of the batch. */
export const batchShares = pgTable(
  "batch_shares",
  {
    root: text("root")
      .notNull()
      .references(() => batches.root),
    bizID: text("biz_id").notNull(),
    region: text("region").$type<Region>().notNull(),
    users: integer("users").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.root, table.bizID, table.region] }),
    index("batch_shares_of_partner").on(table.bizID),
  ],
);

/**
 * A partner's publications in a region on one day. `day` is the start of the day (UTC). The row contains the number of
 * users, the cost in wei, and the number of users without a known cost. Triggers of `batches` and `batch_shares` update
 * the row in the transaction that makes the change.
 */
export const publishedDays = pgTable(
  "published_days",
  {
    bizID: text("biz_id").notNull(),
    day: timestampMs("day").notNull(),
    users: bigint("users", { mode: "number" }).notNull(),
    cost: numeric("cost", { precision: 40, scale: 0, mode: "bigint" }).notNull(),
    unpriced: bigint("unpriced", { mode: "number" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.bizID, table.day] })],
);

/**
 * The publisher's lease: one row in the home database. It is valid until `until` by the database's clock. `fence` is
 * the fencing token, which increases with every holder. Writes with an older token are rejected.
 */
export const publisherLeases = pgTable("publisher_leases", {
  name: text("name").primaryKey(),
  holder: uuid("holder").notNull(),
  fence: integer("fence").notNull(),
  until: timestamp("until", { withTimezone: true }).notNull(),
});

/** The unfinished plan of each region, in the home database. */
export const plans = pgTable("plans", {
  region: text("region").$type<Region>().primaryKey(),
  plan: text("plan").notNull(),
});

/** The journal of transactions, in the home database. Each one is recorded before the publisher sends it. */
export const attempts = pgTable("attempts", {
  id: serial("id").primaryKey(),
  region: text("region").$type<Region>().notNull(),
  attempt: text("attempt").notNull(),
});

/**
 * Requests to publish now, in the home database. A publisher takes a request within seconds.
 * - `author`: the person or the operator who sent the request.
 * - `ended`: null until the publication ends.
 * - `batches`: the published batches.
 * - `error`: the error code if the publication failed.
 */
export const publishRequests = pgTable(
  "publish_requests",
  {
    id: serial("id").primaryKey(),
    author: jsonb("author").$type<Omit<Author, "onChange">>().notNull(),
    requested: timestampMs("requested").notNull(),
    started: timestampMs("started"),
    ended: timestampMs("ended"),
    batches: jsonb("batches").$type<PublishedBatch[]>(),
    error: text("error"),
  },
  (table) => [index("open_publish_requests").on(table.id).where(isNull(table.ended))],
);

/** The publisher's last report about the chain and the stores: one row in the home database. */
export const publisherReports = pgTable("publisher_reports", {
  name: text("name").primaryKey(),
  at: timestampMs("at").notNull(),
  report: jsonb("report").$type<PublisherReport>().notNull(),
});

/** The number of failed publications by error code, in the home database. */
export const publishingFailures = pgTable("publishing_failures", {
  code: text("code").primaryKey(),
  count: bigint("count", { mode: "number" }).notNull(),
});

/** The registry for which the service and its publishers run: one row in the home database. */
export const registries = pgTable("registries", {
  name: text("name").primaryKey(),
  keyType: text("key_type").notNull(),
});
