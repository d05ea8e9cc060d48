import {
  and,
  bigint,
  bigserial,
  boolean,
  index,
  integer,
  isNotNull,
  isNull,
  numeric,
  type PgColumn,
  pgTable,
  primaryKey,
  type SQL,
  sql,
  text,
  uniqueIndex,
} from "../api/database/drizzle.ts";
import type { Region } from "keyroot/internal/identity";
import { timestampMs } from "../api/database/columns.ts";
import { users } from "../users/tables.ts";

/**
 * The roots of a region's Merkle trees. These columns are null until the root is published:
 * - the transaction and the block in which the root was found on the chain;
 * - `confirmed`: when the root's file was first verified against the chain;
 * - `checked`: when the root was last checked;
 * - `difference`: the error code of the last check, or null if the chain, the file and the database agreed;
 * - `gas_used` and `cost` (in wei) of the transaction that gave the root to `added_count` users.
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

/**
 * The condition that a root belongs to a batch that is not on the chain. It uses indexes, so the time of the query does
 * not grow with the number of other keys.
 */
export function isInOpenBatch(root: PgColumn): SQL {
  return sql`${root} = any(array(select root from batches where block_number is null))`;
}

/**
 * Each user's public key in base64, in the user's region.
 * - `user_id`, `account`, `number`: with accounts, a changed key has the id of its slot as `user_id`, its user as
 *   `account`, and its `number` from 1. Otherwise, `account` is null and `number` is 0.
 * - `biz_id`: the user's partner.
 * - `possession`: "proven" if the user proved possession of the private key.
 * - `hold_ends_at`: the end of the hold period.
 * - `undecided_since`: the time of the first conflicting key about which the partner has not decided, or null.
 * - `submitted`: when a publisher took the key, after which it cannot be withdrawn.
 * - `root`: null until the key is part of a batch.
 */
export const publicKeys = pgTable(
  "public_keys",
  {
    userID: text("user_id").primaryKey(),
    account: text("account").references(() => users.userID),
    number: bigint("number", { mode: "number" }).notNull().default(0),
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
    index("public_keys_of_account").on(table.account).where(isNotNull(table.account)),
    index("pending_public_keys").on(table.bizID, table.userID).where(isNull(table.root)),
    // The `pending_keys_by_time` index has the order in which rows are stored. With the `pending_public_keys` index, a
    // list of all pending keys would read one page per key.
    index("pending_keys_by_time").on(table.bizID, table.holdEndsAt).where(isNull(table.root)),
    index("publishable_keys").on(table.holdEndsAt, table.region).where(isNull(table.root)),
  ],
);

/** The account text of each user, in the user's region. */
export const accounts = pgTable("accounts", {
  userID: text("user_id")
    .primaryKey()
    .references(() => users.userID),
  text: text("text").notNull(),
  stored: timestampMs("stored").notNull(),
});

/**
 * The signed key statements of accounts, in the user's region. A statement is open while `objected`, `taken` and
 * `settled` are null. An account has at most one open statement.
 * - `slot_id`: the id under which the key is published.
 * - `key_id`: the key's id, or VOID for a void statement. The hold period of a void statement ends at `hold_ends_at`.
 *   The keys of other statements have their own hold periods.
 * - `objected`: the time of the objection, with its text if a recovery key signed it.
 * - `approved`: when the partner overruled objections.
 * - `taken`: when another key was found in the slot.
 * - `settled`: when the statement became part of the account file.
 */
export const keyStatements = pgTable(
  "key_statements",
  {
    userID: text("user_id")
      .notNull()
      .references(() => users.userID),
    number: bigint("number", { mode: "number" }).notNull(),
    keyID: text("key_id").notNull(),
    slotID: text("slot_id").notNull(),
    statement: text("statement").notNull(),
    possession: text("possession").$type<"proven" | "unproven">().notNull(),
    submitted: timestampMs("submitted").notNull(),
    holdEndsAt: timestampMs("hold_ends_at"),
    objected: timestampMs("objected"),
    objection: text("objection"),
    approved: timestampMs("approved"),
    taken: timestampMs("taken"),
    settled: timestampMs("settled"),
  },
  (table) => [
    primaryKey({ columns: [table.userID, table.number, table.keyID] }),
    uniqueIndex("open_key_statement")
      .on(table.userID)
      .where(sql`${table.objected} is null and ${table.taken} is null and ${table.settled} is null`),
    index("key_statements_by_slot").on(table.slotID),
  ],
);

/** The condition that a statement is open, in the form of the index. */
export const isOpenStatement = and(
  isNull(keyStatements.objected),
  isNull(keyStatements.taken),
  isNull(keyStatements.settled),
);

/** The `key_id` of a void statement. */
export const VOID = "void";

/**
 * The condition that no publisher has taken a key. Publishing a key and removing it both require this condition, so
 * only one of two concurrent calls succeeds.
 */
export const isPending = and(isNull(publicKeys.submitted), isNull(publicKeys.root));

/**
 * Conflicting keys, in the user's region. They were withdrawn, or were offered for a user with another key. `decided`
 * is when the partner approved or discarded the user's key. It is null until then.
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

/** The newest events of each user's unpublished keys, in the user's region. */
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
 * Unanswered challenges, in the user's region. `response_hash` is the SHA-256 of the only valid response, or null if
 * the response is a signature. The table contains neither responses nor private keys.
 */
export const possessionChallenges = pgTable(
  "possession_challenges",
  {
    nonce: text("nonce").primaryKey(),
    userID: text("user_id")
      .notNull()
      .references(() => users.userID),
    pubKey: text("pub_key").notNull(),
    responseHash: text("response_hash"),
    expires: timestampMs("expires").notNull(),
  },
  (table) => [index("possession_challenges_of_user").on(table.userID, table.expires)],
);
