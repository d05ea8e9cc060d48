import { MAX_SESSION_MS } from "../api/sessionCookie.ts";
import type { Person, Session } from "../api/base/principals.ts";
import { randomBytes } from "node:crypto";
import { and, eq, gt, isNull, lt, or, sql } from "../api/database/drizzle.ts";
import { hashSecret } from "../api/database/secrets.ts";
import { recordChange } from "../auditLog/recordChange.ts";
import { actorOfPerson, type Author } from "../api/base/author.ts";
import type { Database } from "../api/database/database.ts";
import { lockStaff, PERSON, type Transaction } from "./staff.ts";
import { passkeyChallenges, passkeys, sessions, staff } from "./tables.ts";

/** Maximum time without a request before a session ends, in ms. */
const MAX_IDLE_MS = 12 * 60 * 60 * 1000;
/** Precision of the stored time of the last request, in ms. */
const IDLE_STEP_MS = 60 * 1000;
/** Maximum time between a passkey verification and the change that requires the verification, in ms. */
const FRESH_MS = 60 * 1000;
/** Maximum time to answer a challenge, in ms. */
export const CHALLENGE_MS = 5 * 60 * 1000;

/** A new session with the value of its cookie, which is not stored and cannot be read later. */
export interface StartedSession {
  /** The cookie's value: 256 random bits in base64url. */
  cookie: string;
  person: Person;
}

/** The request that starts a session. The author is unknown before the session starts. */
type Request = Omit<Author, "actor">;

export type Purpose = "signIn" | "register" | "verify";

/** Stores dashboard sessions and passkey challenges in the home database. */
export class SessionStore {
  readonly #home: Database;

  constructor(home: Database) {
    this.#home = home;
  }

  /**
   * Starts a session, and ends the earlier session of the browser.
   * @param isAdmitted uses up the invitation or the passkey's signature. If it returns false, no session starts
   */
  start(
    personID: string,
    now: number,
    request: Request,
    earlier: string | undefined,
    isAdmitted: (transaction: Transaction) => Promise<boolean>,
  ): Promise<StartedSession | undefined> {
    const cookie = randomBytes(32).toString("base64url");
    return this.#home.transaction(async (transaction) => {
      const person = await lockStaff(transaction, personID);
      if (person === undefined || !(await isAdmitted(transaction))) return undefined;
      if (earlier !== undefined)
        await transaction.delete(sessions).where(eq(sessions.sessionHash, hashSecret(earlier)));
      const session = { sessionHash: hashSecret(cookie), personID, created: now, lastUsed: now };
      await transaction.insert(sessions).values(session);
      await transaction.update(staff).set({ lastSignIn: now }).where(eq(staff.personID, personID));
      const change = { action: "session.started", at: now, partner: person.bizID, person: personID } as const;
      await recordChange(transaction, { ...request, actor: actorOfPerson(person) }, change);
      return { cookie, person };
    });
  }

  /** @returns undefined if the session has ended or the person was removed */
  async get(value: string, now: number): Promise<Session | undefined> {
    const sessionHash = hashSecret(value);
    const [found] = await this.#home
      .select({
        lastUsed: sessions.lastUsed,
        person: PERSON,
        passkeys: sql<number>`(select count(*)::int from ${passkeys} where ${passkeys.personID} = ${staff.personID})`,
      })
      .from(sessions)
      .innerJoin(staff, eq(staff.personID, sessions.personID))
      .where(
        and(
          ...[eq(sessions.sessionHash, sessionHash), isNull(staff.removed)],
          ...[gt(sessions.created, now - MAX_SESSION_MS), gt(sessions.lastUsed, now - MAX_IDLE_MS)],
        ),
      );
    if (found === undefined) return undefined;
    if (found.lastUsed <= now - IDLE_STEP_MS)
      await this.#home.update(sessions).set({ lastUsed: now }).where(eq(sessions.sessionHash, sessionHash));
    return { sessionHash, person: found.person, passkeys: found.passkeys };
  }

  async end({ sessionHash, person }: Session, now: number, author: Author): Promise<void> {
    await this.#home.transaction(async (transaction) => {
      const isSession = eq(sessions.sessionHash, sessionHash);
      const ended = await transaction.delete(sessions).where(isSession).returning();
      if (ended.length === 0) return;
      const { personID, bizID } = person;
      await recordChange(transaction, author, { action: "session.ended", at: now, partner: bizID, person: personID });
    });
  }

  /** Records that the session's person was verified. The verification is valid for one change. */
  async setVerified(sessionHash: string, now: number): Promise<void> {
    await this.#home.update(sessions).set({ verified: now }).where(eq(sessions.sessionHash, sessionHash));
  }

  /**
   * Uses a recent verification, which is possible only once.
   * @returns whether the session had a recent verification
   */
  async useVerification(sessionHash: string, now: number): Promise<boolean> {
    const used = await this.#home
      .update(sessions)
      .set({ verified: null })
      .where(and(eq(sessions.sessionHash, sessionHash), gt(sessions.verified, now - FRESH_MS)))
      .returning();
    return used.length > 0;
  }

  async addChallenge(challenge: string, purpose: Purpose, sessionHash: string | null, now: number): Promise<void> {
    const expires = now + CHALLENGE_MS;
    await this.#home
      .insert(passkeyChallenges)
      .values({ challengeHash: hashSecret(challenge), purpose, sessionHash, expires });
  }

  /**
   * Deletes a challenge.
   * @returns whether the challenge existed, had not expired, and was for this purpose and session
   */
  async useChallenge(challenge: string, purpose: Purpose, sessionHash: string | null, now: number): Promise<boolean> {
    const used = await this.#home
      .delete(passkeyChallenges)
      .where(
        and(
          ...[eq(passkeyChallenges.challengeHash, hashSecret(challenge)), eq(passkeyChallenges.purpose, purpose)],
          sessionHash === null ? isNull(passkeyChallenges.sessionHash) : eq(passkeyChallenges.sessionHash, sessionHash),
          gt(passkeyChallenges.expires, now),
        ),
      )
      .returning();
    return used.length > 0;
  }

  async dropExpired(now: number): Promise<void> {
    await this.#home
      .delete(sessions)
      .where(or(lt(sessions.created, now - MAX_SESSION_MS), lt(sessions.lastUsed, now - MAX_IDLE_MS)));
    await this.#home.delete(passkeyChallenges).where(lt(passkeyChallenges.expires, now));
  }
}

/**
 * Records the use of a passkey. Its signature counter must increase (WebAuthn, section 6.1.1), so only one of several
 * requests with the same counter succeeds. Authenticators without a counter always send 0.
 * @returns false if the passkey was removed, or if the counter was used before
 */
export async function recordUse(database: Database, credentialID: string, counter: number, now: number) {
  const isNewer = or(lt(passkeys.counter, counter), and(eq(passkeys.counter, 0), sql`${counter}::bigint = 0`));
  const used = await database
    .update(passkeys)
    .set({ counter, lastUsed: now })
    .where(and(eq(passkeys.credentialID, credentialID), isNewer))
    .returning();
  return used.length > 0;
}
