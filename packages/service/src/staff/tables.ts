import type { Role } from "../api/base/principals.ts";
import { bigint, index, isNull, pgTable, text, uniqueIndex, uuid } from "../api/database/drizzle.ts";
import { timestampMs } from "../api/database/columns.ts";
import { partners } from "../partners/tables.ts";

/**
 * People who may sign in, in the home database. With a `biz_id`, they sign in to their partner's dashboard, and
 * otherwise to the operator's console. `removed` is null until the person is removed.
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
  // PostgreSQL treats nulls as different values. `StaffStore` keeps the names of the operator's staff unique.
  (table) => [uniqueIndex("staff_of_partner").on(table.bizID, table.name).where(isNull(table.removed))],
);

const person = () =>
  uuid("person_id")
    .notNull()
    .references(() => staff.personID);

/** A person's unused invitation, in the home database. `token_hash` is the SHA-256 of the token in the link. */
export const invitations = pgTable("invitations", {
  personID: person().primaryKey(),
  tokenHash: text("token_hash").notNull().unique(),
  expires: timestampMs("expires").notNull(),
});

/** People's passkeys (WebAuthn), in the home database. Ids and public keys are in base64url. `name` may be null. */
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
 * Dashboard sessions, in the home database. `session_hash` is the SHA-256 of the cookie's value. `verified` is the time
 * of the last passkey verification, until a change uses it.
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

/**
 * Unanswered passkey challenges, in the home database. A sign-in challenge belongs to no session, and every other
 * challenge belongs to one.
 */
export const passkeyChallenges = pgTable("passkey_challenges", {
  challengeHash: text("challenge_hash").primaryKey(),
  purpose: text("purpose").$type<"signIn" | "register" | "verify">().notNull(),
  sessionHash: text("session_hash"),
  expires: timestampMs("expires").notNull(),
});
