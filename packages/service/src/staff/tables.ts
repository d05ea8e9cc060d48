import { isNull } from "drizzle-orm";
import { bigint, index, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { timestampMs } from "../database/columns.ts";
import { partners } from "../partners/tables.ts";

/** Permissions in the dashboard: an administrator may change everything, a reader may only look. */
export const ROLES = ["administrator", "reader"] as const;
export type Role = (typeof ROLES)[number];

/**
 * Home database: people who may sign in to the dashboard of their partner or, without a `biz_id`, to the operator's
 * console. `removed` is null until a person is removed.
 */
export const staff = pgTable(
  "staff",
  {
    personID: uuid("person_id").primaryKey(),
    bizID: text("biz_id").references(() => partners.bizID),
    name: text("name").notNull(),
    role: text("role").$type<Role>().notNull(),
    created: timestampMs("created").notNull(),
    lastSignIn: timestampMs("last_sign_in"),
    removed: timestampMs("removed"),
  },
  // PostgreSQL does not compare nulls. `StaffStore` keeps the names of the operator's staff unique.
  (table) => [uniqueIndex("staff_of_partner").on(table.bizID, table.name).where(isNull(table.removed))],
);

const person = () =>
  uuid("person_id")
    .notNull()
    .references(() => staff.personID);

/** Home database: the unused invitation of a person. `token_hash` is the SHA-256 of the token in its link. */
export const invitations = pgTable("invitations", {
  personID: person().primaryKey(),
  tokenHash: text("token_hash").notNull().unique(),
  expires: timestampMs("expires").notNull(),
});

/** Home database: people's passkeys (WebAuthn). Ids and public keys are in base64url. `name` is the device, or another chosen name. */
export const passkeys = pgTable(
  "passkeys",
  {
    credentialID: text("credential_id").primaryKey(),
    personID: person(),
    publicKey: text("public_key").notNull(),
    counter: bigint("counter", { mode: "number" }).notNull(),
    transports: text("transports").notNull(),
    created: timestampMs("created").notNull(),
    lastUsed: timestampMs("last_used"),
    name: text("name"),
  },
  (table) => [index("passkeys_of_person").on(table.personID)],
);

/**
 * Home database: sessions of the dashboard. `session_hash` is the SHA-256 of the cookie's value. `verified` is the time of
 * a verification that was not used for a change yet.
 */
export const sessions = pgTable(
  "sessions",
  {
    sessionHash: text("session_hash").primaryKey(),
    personID: person(),
    created: timestampMs("created").notNull(),
    lastUsed: timestampMs("last_used").notNull(),
    verified: timestampMs("verified"),
  },
  (table) => [index("sessions_of_person").on(table.personID)],
);

/** Home database: challenges of passkeys that wait for their answer, each for one session or, at sign-in, for none. */
export const passkeyChallenges = pgTable("passkey_challenges", {
  challengeHash: text("challenge_hash").primaryKey(),
  purpose: text("purpose").$type<"signIn" | "register" | "verify">().notNull(),
  sessionHash: text("session_hash"),
  expires: timestampMs("expires").notNull(),
});
