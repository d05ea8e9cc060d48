import { and, asc, eq, inArray, isNull } from "../api/database/drizzle.ts";
import { ServiceError } from "../api/base/errors.ts";
import { recordChange } from "../auditLog/recordChange.ts";
import type { Author } from "../api/base/author.ts";
import type { Database } from "../api/database/database.ts";
import { sessionRequired } from "../api/authenticate.ts";
import type { Person, Session } from "../api/base/principals.ts";
import { lockStaff, PERSON } from "./staff.ts";
import { passkeyChallenges, passkeys, sessions, staff } from "./tables.ts";

/** Maximum number of passkeys per person. */
const MAX_PASSKEYS = 10;

/** A passkey (WebAuthn, public-key credential). */
export interface Passkey {
  /** The passkey's id in base64url. */
  credentialID: string;
  /** The public key as a COSE key in base64url. */
  publicKey: string;
  /** The authenticator's signature counter. 0 if the authenticator has no counter. */
  counter: number;
  /** The authenticator's WebAuthn transports, such as "internal". */
  transports: string[];
}

/** Stores passkeys in the home database. */
export class PasskeyStore {
  readonly #home: Database;

  constructor(home: Database) {
    this.#home = home;
  }

  /**
   * Adds a passkey for a session's person, whose other challenges for new passkeys end.
   * @throws ServiceError SESSION_REQUIRED, PASSKEY_REFUSED, PASSKEY_LIMIT_REACHED
   */
  add(
    { sessionHash, person, passkeys: known }: Session,
    passkey: Passkey & { name?: string | undefined },
    now: number,
    author: Author,
  ): Promise<void> {
    const { personID, bizID } = person;
    return this.#home.transaction(async (transaction) => {
      await lockStaff(transaction, personID);
      const session = await transaction.select().from(sessions).where(eq(sessions.sessionHash, sessionHash));
      if (session.length === 0) throw sessionRequired();
      const earlier = await transaction.select().from(passkeys).where(eq(passkeys.personID, personID));
      if (earlier.length >= MAX_PASSKEYS)
        throw new ServiceError(409, "PASSKEY_LIMIT_REACHED", `You have ${MAX_PASSKEYS} passkeys. Remove one first.`);
      // The first passkey needs no verification. If two requests start before it exists, only one of them may add a
      // passkey.
      if (known === 0 && earlier.length > 0)
        throw new ServiceError(403, "PASSKEY_REFUSED", "Another passkey was added in the meantime. Try again.");
      const row = { ...passkey, personID, transports: passkey.transports.join(","), created: now };
      const inserted = await transaction.insert(passkeys).values(row).onConflictDoNothing().returning();
      if (inserted.length === 0)
        throw new ServiceError(403, "PASSKEY_REFUSED", "This passkey is already in use. Add a different one.");
      const own = transaction
        .select({ hash: sessions.sessionHash })
        .from(sessions)
        .where(eq(sessions.personID, personID));
      await transaction
        .delete(passkeyChallenges)
        .where(and(eq(passkeyChallenges.purpose, "register"), inArray(passkeyChallenges.sessionHash, own)));
      await recordChange(transaction, author, { action: "passkey.added", at: now, partner: bizID, person: personID });
    });
  }

  /** Lists a person's passkeys in the order of creation. */
  async listOf(personID: string) {
    const rows = await this.#home
      .select()
      .from(passkeys)
      .where(eq(passkeys.personID, personID))
      .orderBy(asc(passkeys.created), asc(passkeys.credentialID));
    return rows.map((row) => ({ ...row, transports: row.transports.split(",").filter(Boolean) }));
  }

  /** @returns undefined if the passkey does not exist */
  async get(credentialID: string): Promise<{ passkey: Passkey; person: Person } | undefined> {
    const [found] = await this.#home
      .select({ passkey: passkeys, person: PERSON })
      .from(passkeys)
      .innerJoin(staff, eq(staff.personID, passkeys.personID))
      .where(and(eq(passkeys.credentialID, credentialID), isNull(staff.removed)));
    if (found === undefined) return undefined;
    const { passkey, person } = found;
    return { passkey: { ...passkey, transports: passkey.transports.split(",").filter(Boolean) }, person };
  }

  /** Renames one of a person's passkeys. @returns false if the person has no such passkey */
  async rename({ personID }: Person, credentialID: string, name: string): Promise<boolean> {
    const isOwn = and(eq(passkeys.credentialID, credentialID), eq(passkeys.personID, personID));
    const renamed = await this.#home.update(passkeys).set({ name }).where(isOwn).returning();
    return renamed.length > 0;
  }

  /**
   * Removes one of a person's passkeys.
   * @returns false if the person has no such passkey
   * @throws ServiceError LAST_PASSKEY
   */
  remove({ personID, bizID }: Person, credentialID: string, now: number, author: Author): Promise<boolean> {
    return this.#home.transaction(async (transaction) => {
      // The lock makes concurrent requests run one after the other, so that they cannot remove the last passkey.
      await lockStaff(transaction, personID);
      const own = await transaction.select().from(passkeys).where(eq(passkeys.personID, personID));
      if (!own.some((passkey) => passkey.credentialID === credentialID)) return false;
      if (own.length === 1)
        throw new ServiceError(409, "LAST_PASSKEY", "This is your only passkey. Add another one first.");
      await transaction.delete(passkeys).where(eq(passkeys.credentialID, credentialID));
      await recordChange(transaction, author, { action: "passkey.removed", at: now, partner: bizID, person: personID });
      return true;
    });
  }
}
