import { isNotNull, isNull, sql } from "drizzle-orm";
import {
  bigint,
  bigserial,
  boolean,
  customType,
  index,
  integer,
  jsonb,
  numeric,
  pgTable,
  primaryKey,
  serial,
  text,
  timestamp,
  uuid,
} from "drizzle-orm/pg-core";
import type { Region } from "keyroot/identity";
import type { Action, ActorKind, ChangeData, EventType } from "./changes.ts";

/** A column of milliseconds since 1970, as in the API. */
export const timestampMs = (name: string) => bigint(name, { mode: "number" });

/** PostgreSQL's 64-bit transaction id, which is not reused, as decimal digits. */
const xid8 = customType<{ data: string }>({ dataType: () => "xid8" });

/**
 * The columns that both records of changes have. A change is stored in the database of what it changed, in its transaction.
 * `position` is the order of insertion, which is not the order of commits. `biz_id` is the partner that the change is about,
 * `user_id` the user.
 */
const change = () => ({
  id: uuid("id").notNull().defaultRandom(),
  position: bigserial("position", { mode: "number" }).primaryKey(),
  bizID: text("biz_id"),
  userID: text("user_id"),
  data: jsonb("data").$type<ChangeData>().notNull(),
  at: timestampMs("at").notNull(),
});

/**
 * The columns that both tables of refresh tokens have. `token_hash` is the SHA-256 of the token, whose value is not stored.
 * `last_used` is the beginning of the hour in which the token was last used.
 * A request with an Idempotency-Key also stores the SHA-256 of owner and key, and for 24 hours the token encrypted under
 * the key. The key itself is not stored, so the database alone does not reveal the token.
 */
const refreshToken = () => ({
  tokenID: uuid("token_id").primaryKey(),
  tokenHash: text("token_hash").notNull().unique(),
  created: timestampMs("created").notNull(),
  revoked: timestampMs("revoked"),
  lastUsed: timestampMs("last_used"),
  requestHash: text("request_hash").unique(),
  sealedToken: text("sealed_token"),
});

/**
 * Home database: partner companies. `request_hash` is the SHA-256 of the Idempotency-Key that created the partner, `user_limit`
 * the most users that the partner may have.
 */
export const partners = pgTable("partners", {
  bizID: text("biz_id").primaryKey(),
  name: text("name").notNull(),
  created: timestampMs("created").notNull(),
  requestHash: text("request_hash").unique(),
  userLimit: integer("user_limit"),
});

/**
 * Home database: the number of each partner's rows in `user_ids`, in several rows so that concurrent inserts rarely wait for
 * each other. A trigger of `user_ids` maintains it, in the transaction of the insert.
 */
export const userCounts = pgTable(
  "user_counts",
  {
    bizID: text("biz_id").notNull(),
    shard: integer("shard").notNull(),
    users: bigint("users", { mode: "number" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.bizID, table.shard] })],
);

/**
 * Every database: the suspended partners. Home and regions have a row each, so that a token is checked in the database that
 * stores it.
 */
export const suspensions = pgTable("suspensions", {
  bizID: text("biz_id").primaryKey(),
  since: timestampMs("since").notNull(),
});

/** Home database: partners' refresh tokens. */
export const serverTokens = pgTable(
  "server_tokens",
  {
    ...refreshToken(),
    bizID: text("biz_id")
      .notNull()
      .references(() => partners.bizID),
    name: text("name"),
  },
  (table) => [
    index("server_tokens_of_partner").on(table.bizID, table.created, table.tokenID),
    index("active_server_tokens").on(table.bizID).where(isNull(table.revoked)),
  ],
);

/** Home database: the partner that owns a user id, and the region of the user's data. */
export const userIDs = pgTable(
  "user_ids",
  {
    userID: text("user_id").primaryKey(),
    bizID: text("biz_id").notNull(),
    region: text("region").$type<Region>().notNull(),
  },
  (table) => [index("user_ids_of_partner").on(table.bizID, table.userID)],
);

/**
 * User's region: shadow users. The tokens of a deactivated user are refused. An erased user is deactivated, too, and its row
 * only keeps the id from being used again.
 */
export const users = pgTable("users", {
  userID: text("user_id").primaryKey(),
  bizID: text("biz_id").notNull(),
  region: text("region").$type<Region>().notNull(),
  bucket: text("bucket").notNull().unique(),
  salt: text("salt").notNull(),
  created: timestampMs("created").notNull(),
  deactivated: timestampMs("deactivated"),
  erased: timestampMs("erased"),
});

/** User's region: users' refresh tokens. */
export const userTokens = pgTable(
  "user_tokens",
  {
    ...refreshToken(),
    userID: text("user_id")
      .notNull()
      .references(() => users.userID),
    context: text("context").notNull(),
  },
  (table) => [
    index("user_tokens_of_user").on(table.userID, table.created, table.tokenID),
    index("active_user_tokens").on(table.userID).where(isNull(table.revoked)),
    index("sealed_user_tokens").on(table.created).where(isNotNull(table.sealedToken)),
  ],
);

/**
 * User's region: the one public key of each user, in base64. `possession` says whether the user proved to hold the private
 * key. The key is not published before `publishable_at`. `disputed` is when another key was offered for the user; null if none
 * was, or the partner has decided. `submitted` is when a publisher took the key, which cannot be withdrawn from then on. `root`
 * is null until the key is part of a batch. `biz_id` is the user's partner: a trigger sets it in keys without a batch, so that
 * an index finds the pending keys of a partner.
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
    publishableAt: timestampMs("publishable_at").notNull().default(0),
    disputed: timestampMs("disputed"),
    submitted: timestampMs("submitted"),
    root: text("root").references(() => batches.root),
    bizID: text("biz_id"),
  },
  (table) => [
    index("public_keys_by_root").on(table.root),
    index("pending_public_keys").on(table.bizID, table.userID).where(isNull(table.root)),
    // In the order in which keys are stored: reading all pending keys by the index above takes one page for each of them.
    index("pending_keys_by_time").on(table.bizID, table.publishableAt).where(isNull(table.root)),
    index("publishable_keys").on(table.publishableAt, table.region).where(isNull(table.root)),
  ],
);

/**
 * User's region: keys that were offered for a user who had another one, or that were withdrawn. They are undecided until the
 * partner discards or approves the user's key.
 */
export const offeredKeys = pgTable(
  "offered_keys",
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

/** User's region: what happened to users' keys before they were published, the newest events of each user. */
export const keyEvents = pgTable(
  "key_events",
  {
    id: bigserial("id", { mode: "number" }).primaryKey(),
    userID: text("user_id")
      .notNull()
      .references(() => users.userID),
    type: text("type").$type<"registered" | "offered" | "withdrawn" | "discarded" | "approved">().notNull(),
    keyID: text("key_id").notNull(),
    at: timestampMs("at").notNull(),
    afterWithdrawal: boolean("after_withdrawal").notNull().default(false),
  },
  (table) => [index("key_events_of_user").on(table.userID, table.id)],
);

/**
 * User's region: challenges that users have not answered. `response_hash` is the SHA-256 of the only valid response, so the
 * table reveals no response, and it contains no private key.
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

/**
 * Each region: Merkle trees of its users' keys, and the transaction and block last seen for each on the chain. The transaction
 * was `confirmed` at this time, used this gas, cost `cost` wei, and gave its root to `added_count` users. These four are null
 * before, and in batches of versions before 0.2.0.
 */
export const batches = pgTable(
  "batches",
  {
    root: text("root").primaryKey(),
    created: timestampMs("created").notNull(),
    transactionHash: text("transaction_hash"),
    blockNumber: integer("block_number"),
    confirmed: timestampMs("confirmed"),
    gasUsed: bigint("gas_used", { mode: "number" }),
    cost: numeric("cost", { precision: 40, scale: 0, mode: "bigint" }),
    addedCount: integer("added_count"),
  },
  (table) => [index("batches_by_block").on(table.blockNumber), index("batches_by_time").on(table.created, table.root)],
);

/** Each region: how many of a partner's users have their key in a batch. */
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
 * Each region: what was published for a partner on a day (UTC), which begins at `day`: its users, the cost in wei, and those of
 * the users whose cost is unknown. Triggers of `batches` and `batch_shares` maintain these sums, in the transaction of the
 * change.
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
 * Home database, one row: the publisher's lease. `until` is in the database's clock. `fence` is the fencing token: it grows
 * with every holder, and writes with an older one are rejected.
 */
export const publisherLeases = pgTable("publisher_leases", {
  name: text("name").primaryKey(),
  holder: uuid("holder").notNull(),
  fence: integer("fence").notNull(),
  until: timestamp("until", { withTimezone: true }).notNull(),
});

/**
 * Every database: how many migrations a version of the service must know to run over these tables. The highest number counts.
 * Only migrations that remove or change something insert a row: until then, older versions run over newer tables.
 */
export const schemaRequirements = pgTable("schema_requirements", {
  migrations: integer("migrations").primaryKey(),
});

/** Home database: the unfinished plan of each region. */
export const plans = pgTable("plans", {
  region: text("region").$type<Region>().primaryKey(),
  plan: text("plan").notNull(),
});

/** Home database: the journal of transactions that were about to be sent for a region's plan. */
export const attempts = pgTable("attempts", {
  id: serial("id").primaryKey(),
  region: text("region").$type<Region>().notNull(),
  attempt: text("attempt").notNull(),
});

/** Home database: requests of callers and addresses in the current minute, shared by all replicas. */
export const rateLimits = pgTable("rate_limits", {
  key: text("key").primaryKey(),
  points: integer("points").notNull(),
  expire: timestamp("expire", { withTimezone: true }),
});

/**
 * Every database: the audit log, which a trigger makes append-only. `actor_id` is the id of a person, a user or a server's
 * refresh token; `actor_token` the refresh token behind a server's or user's access token; `address` the caller's IP address.
 */
export const auditEntries = pgTable(
  "audit_entries",
  {
    ...change(),
    action: text("action").$type<Action>().notNull(),
    actorKind: text("actor_kind").$type<ActorKind>().notNull(),
    actorID: text("actor_id"),
    actorName: text("actor_name"),
    actorToken: text("actor_token"),
    requestID: text("request_id"),
    address: text("address"),
  },
  (table) => [
    index("audit_entries_by_time").on(table.at, table.position),
    index("audit_entries_of_partner").on(table.bizID, table.at, table.position),
    index("audit_entries_of_user").on(table.userID, table.at, table.position),
  ],
);

/**
 * Every database: the outbox, what partners are informed of. `id` lets receivers recognize duplicates. `xid` is the
 * transaction of the change: those below the snapshot's `xmin` have ended, so a reader in the order of `xid` skips none.
 * `dispatched` is null until the deliveries to the partner's endpoints are stored.
 */
export const events = pgTable(
  "events",
  {
    ...change(),
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
