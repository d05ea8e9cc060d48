import { isNull } from "drizzle-orm";
import { bigserial, boolean, index, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import type { Region } from "keyroot/identity";
import { timestampMs } from "../database/columns.ts";
import { users } from "../users/tables.ts";
import { batches } from "../publishing/tables.ts";

/**
 * User's region: the one public key of each user, in base64. `possession` is "proven" if the user proved to hold the
 * private key. `hold_ends_at` is the end of the hold period. `undecided_since` is the time of the first conflicting key
 * that the partner has not decided about, or null. `submitted` is the time when a publisher took the key. From then on, it
 * cannot be withdrawn. `root` is null until the key is part of a batch. `biz_id` is the user's partner.
 */
export const publicKeys = pgTable(
  "public_keys",
  {
    userID: text("user_id")
      .primaryKey()
      .references(() => users.userID),
    region: text("region").$type<Region>().notNull(),
    pubKey: text("pub_key").notNull(),
    keyID: text("key_id").notNull(),
    registered: timestampMs("registered").notNull(),
    possession: text("possession").$type<"proven" | "unproven">().notNull().default("unproven"),
    holdEndsAt: timestampMs("hold_ends_at").notNull().default(0),
    undecidedSince: timestampMs("undecided_since"),
    submitted: timestampMs("submitted"),
    root: text("root").references(() => batches.root),
    bizID: text("biz_id").notNull(),
  },
  (table) => [
    index("public_keys_by_root").on(table.root),
    index("pending_public_keys").on(table.bizID, table.userID).where(isNull(table.root)),
    // This index is in storage order: a list of all pending keys in the order of the index above reads one page per key.
    index("pending_keys_by_time").on(table.bizID, table.holdEndsAt).where(isNull(table.root)),
    index("publishable_keys").on(table.holdEndsAt, table.region).where(isNull(table.root)),
  ],
);

/**
 * User's region: conflicting keys. They were offered for a user who had another key, or were withdrawn. `decided` is when the partner
 * discarded or approved the user's key; null before.
 */
export const conflictingKeys = pgTable(
  "conflicting_keys",
  {
    userID: text("user_id")
      .notNull()
      .references(() => users.userID),
    keyID: text("key_id").notNull(),
    pubKey: text("pub_key").notNull(),
    offered: timestampMs("offered").notNull(),
    withdrawn: boolean("withdrawn").notNull(),
    decided: timestampMs("decided"),
  },
  (table) => [primaryKey({ columns: [table.userID, table.keyID] })],
);

/** User's region: the newest events of each user's key before its publication. */
export const keyEvents = pgTable(
  "key_events",
  {
    id: bigserial("id", { mode: "number" }).primaryKey(),
    userID: text("user_id")
      .notNull()
      .references(() => users.userID),
    type: text("type").$type<"registered" | "conflict" | "withdrawn" | "discarded" | "approved">().notNull(),
    keyID: text("key_id").notNull(),
    at: timestampMs("at").notNull(),
    afterWithdrawal: boolean("after_withdrawal").notNull().default(false),
  },
  (table) => [index("key_events_of_user").on(table.userID, table.id)],
);

/**
 * User's region: open challenges. `response_hash` is the SHA-256 of the only valid response. The table contains no response and no
 * private key.
 */
export const possessionChallenges = pgTable(
  "possession_challenges",
  {
    nonce: text("nonce").primaryKey(),
    userID: text("user_id")
      .notNull()
      .references(() => users.userID),
    pubKey: text("pub_key").notNull(),
    responseHash: text("response_hash").notNull(),
    expires: timestampMs("expires").notNull(),
  },
  (table) => [index("possession_challenges_of_user").on(table.userID, table.expires)],
);
