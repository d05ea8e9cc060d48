import {
  bigint,
  index,
  integer,
  isNotNull,
  numeric,
  type PgColumn,
  pgTable,
  primaryKey,
  serial,
  type SQL,
  sql,
  text,
  timestamp,
  uuid,
} from "../database/drizzle.ts";
import type { Region } from "keyroot/internal/identity";
import { timestampMs } from "../database/columns.ts";

/**
 * The roots of a region's Merkle trees. Each row contains the transaction and the block in which the root was found on
 * the chain. `confirmed` is the time when the root's file was first verified against the chain. `checked` is the time
 * of the last check. `difference` is the error code of the last check, or null if the chain, the file and the database
 * agreed. `gas_used` and `cost` (in wei) belong to the transaction that gave the root to `added_count` users. All these
 * columns are null before the root is published.
 */
export const batches = pgTable(
  "batches",
  {
    root: text("root").primaryKey(),
    created: timestampMs("created").notNull(),
    transactionHash: text("transaction_hash"),
    blockNumber: bigint("block_number", { mode: "number" }),
    blockHash: text("block_hash"),
    confirmed: timestampMs("confirmed"),
    checked: timestampMs("checked"),
    difference: text("difference"),
    gasUsed: bigint("gas_used", { mode: "number" }),
    cost: numeric("cost", { precision: 40, scale: 0, mode: "bigint" }),
    addedCount: integer("added_count"),
  },
  (table) => [
    index("batches_by_block").on(table.blockNumber),
    index("batches_by_time").on(table.created, table.root),
    index("batches_by_check").on(table.checked).where(isNotNull(table.blockNumber)),
    index("batches_with_difference").on(table.root).where(isNotNull(table.difference)),
  ],
);

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
 * A partner's publications in a region on one day (UTC). `day` is the start of the day. The row contains the number of
 * users, the cost in wei, and the number of users without a known cost. Triggers of `batches` and `batch_shares` update
 * the row in the same transaction as the change.
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
 * The publisher's lease: one row in the home database. `until` is a time of the database's clock. `fence` is the
 * fencing token. The token increases with every holder. Writes with an older token are rejected.
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

/** The journal of transactions, in the home database. Each transaction is recorded before the publisher sends it. */
export const attempts = pgTable("attempts", {
  id: serial("id").primaryKey(),
  region: text("region").$type<Region>().notNull(),
  attempt: text("attempt").notNull(),
});

/**
 * The condition that a root belongs to a batch that is not on the chain. PostgreSQL finds the batches and the batches'
 * keys by indexes. The query's time does not depend on the number of other keys.
 */
export function isInOpenBatch(root: PgColumn): SQL {
  return sql`${root} = any(array(select root from batches where block_number is null))`;
}
