import { bigint, index, integer, pgTable, serial, text, timestamp, uuid } from "drizzle-orm/pg-core";
import type { Region } from "keyroot/identity";

/** Moments are milliseconds since 1970, as the API tells them. */
const moment = (name: string) => bigint(name, { mode: "number" });

/**
 * What refresh tokens of both kinds have. Of a token only the SHA-256 is kept. A request that came with an
 * Idempotency-Key leaves the SHA-256 of that key, and for a day the token sealed under it: without the key itself,
 * which is not kept, nobody opens it.
 */
const refreshToken = () => ({
  tokenID: uuid("token_id").primaryKey(),
  tokenHash: text("token_hash").notNull().unique(),
  created: moment("created").notNull(),
  revoked: moment("revoked"),
  requestHash: text("request_hash").unique(),
  sealedToken: text("sealed_token"),
});

/** In the home database: the companies. */
export const partners = pgTable("partners", {
  bizID: text("biz_id").primaryKey(),
  name: text("name").notNull(),
  created: moment("created").notNull(),
});

/** In the home database: partners' refresh tokens. */
export const serverTokens = pgTable(
  "server_tokens",
  {
    ...refreshToken(),
    bizID: text("biz_id")
      .notNull()
      .references(() => partners.bizID),
    name: text("name"),
  },
  (table) => [index("server_tokens_of_partner").on(table.bizID, table.tokenID)],
);

/** In the home database: whose each id is, and in which region all else about the user is. */
export const userIDs = pgTable(
  "user_ids",
  {
    userID: text("user_id").primaryKey(),
    bizID: text("biz_id").notNull(),
    region: text("region").$type<Region>().notNull(),
  },
  (table) => [index("user_ids_of_partner").on(table.bizID, table.userID)],
);

/** In the user's region. */
export const users = pgTable("users", {
  userID: text("user_id").primaryKey(),
  bizID: text("biz_id").notNull(),
  region: text("region").$type<Region>().notNull(),
  bucket: text("bucket").notNull().unique(),
  salt: text("salt").notNull(),
  created: moment("created").notNull(),
});

/** In the user's region. */
export const userTokens = pgTable(
  "user_tokens",
  {
    ...refreshToken(),
    userID: text("user_id")
      .notNull()
      .references(() => users.userID),
    context: text("context").notNull(),
  },
  (table) => [index("user_tokens_of_user").on(table.userID, table.tokenID)],
);

/** In the user's region: a user's one public key, in base64; without a root until it is part of a batch. */
export const publicKeys = pgTable(
  "public_keys",
  {
    userID: text("user_id")
      .primaryKey()
      .references(() => users.userID),
    region: text("region").$type<Region>().notNull(),
    pubKey: text("pub_key").notNull(),
    keyID: text("key_id").notNull(),
    registered: moment("registered").notNull(),
    root: text("root").references(() => batches.root),
  },
  (table) => [index("public_keys_by_root").on(table.root)],
);

/** In each region: Merkle trees of its users' keys. The chain decides whether one is published; this is what was seen. */
export const batches = pgTable("batches", {
  root: text("root").primaryKey(),
  created: moment("created").notNull(),
  transactionHash: text("transaction_hash"),
  blockNumber: integer("block_number"),
});

/**
 * In the home database, in one row: who publishes, until when by the database's clock, and how often that has changed
 * hands. A publisher whose number is not the newest writes no more.
 */
export const publisherLeases = pgTable("publisher_leases", {
  name: text("name").primaryKey(),
  holder: uuid("holder").notNull(),
  fence: integer("fence").notNull(),
  until: timestamp("until", { withTimezone: true }).notNull(),
});

/** In the home database: the plan of each region that is not finished. */
export const plans = pgTable("plans", {
  region: text("region").$type<Region>().primaryKey(),
  plan: text("plan").notNull(),
});

/** In the home database: the transactions that were about to be sent for a region's plan. */
export const attempts = pgTable("attempts", {
  id: serial("id").primaryKey(),
  region: text("region").$type<Region>().notNull(),
  attempt: text("attempt").notNull(),
});

/** In the home database: how much each caller has asked for, shared by all replicas. */
export const rateLimits = pgTable("rate_limits", {
  key: text("key").primaryKey(),
  points: integer("points").notNull(),
  expire: timestamp("expire", { withTimezone: true }),
});
