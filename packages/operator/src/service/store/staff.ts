import { randomBytes, randomUUID } from "node:crypto";
import { and, asc, count, eq, exists, gt, inArray, isNull, ne, type SQL, sql } from "drizzle-orm";
import { ServiceError } from "keyroot/errors";
import { hashSecret } from "../tokens/refreshToken.ts";
import { type Author, recordChange } from "./changes.ts";
import type { Database } from "./database.ts";
import { invitations, passkeys, type Role, sessions, staff } from "./staffTables.ts";
import { partners } from "./tables.ts";

/** How long the link of an invitation works. */
const INVITATION_MS = 15 * 60 * 1000;
/** The most people of one partner. */
const MAX_STAFF = 200;

/** A person who may sign in to the dashboard. */
export interface Person {
  /** A UUID. */
  personID: string;
  /** The partner whose staff it is; null for the operator's. */
  bizID: string | null;
  name: string;
  role: Role;
}

/** A person in the list of a partner's staff. */
export interface StaffInfo extends Person {
  /** Milliseconds since 1970. */
  created: number;
  /** Milliseconds since 1970; null before the first sign-in. */
  lastSignIn: number | null;
  /** When the unused invitation expires; null without one. */
  invitationExpires: number | null;
  passkeys: number;
}

/** A new invitation, at the only time when its token is available. */
export interface Invitation {
  personID: string;
  name: string;
  role: Role;
  /** 256 random bits in base64url. */
  token: string;
  /** Milliseconds since 1970. */
  expires: number;
}

type Transaction = Parameters<Parameters<Database["transaction"]>[0]>[0];

/** Stores partners' and the operator's people and their invitations, in the home database. A null `bizID` is the operator. */
export class StaffStore {
  readonly #home: Database;

  constructor(home: Database) {
    this.#home = home;
  }

  /**
   * Adds a person, with an invitation.
   * @throws ServiceError NAME_TAKEN, STAFF_LIMIT_REACHED
   */
  add(bizID: string | null, name: string, role: Role, now: number, author: Author): Promise<Invitation> {
    return this.#home.transaction(async (transaction) => {
      await lockPartner(transaction, bizID);
      const isActive = and(isOf(bizID), isNull(staff.removed));
      const [active] = await transaction.select({ people: count() }).from(staff).where(isActive);
      if ((active?.people ?? 0) >= MAX_STAFF)
        throw new ServiceError(409, "STAFF_LIMIT_REACHED", `There are ${MAX_STAFF} people: remove one first.`);
      const person = { personID: randomUUID(), bizID, name, role, created: now };
      // Under the lock, no other request adds this name.
      const named = await transaction
        .select()
        .from(staff)
        .where(and(isActive, eq(staff.name, name)));
      if (named.length > 0)
        throw new ServiceError(409, "NAME_TAKEN", "There is a person with this name: choose another one.");
      await transaction.insert(staff).values(person);
      return invite(transaction, person, now, author);
    });
  }

  /**
   * Invites a person again: the earlier invitation, all passkeys and all sessions of the person end.
   * @returns undefined when the partner has no such person
   * @throws ServiceError LAST_ADMINISTRATOR when no other administrator could sign in
   */
  inviteAgain(bizID: string | null, personID: string, now: number, author: Author): Promise<Invitation | undefined> {
    return this.#home.transaction(async (transaction) => {
      const person = await lockPerson(transaction, bizID, eq(staff.personID, personID));
      if (person === undefined) return undefined;
      await requireAnotherAdministrator(transaction, person);
      return inviteAgain(transaction, person, now, author);
    });
  }

  /**
   * Invites the person with this name, as the operator: a new person, or one who lost the passkeys. Unlike a partner's
   * administrator, the operator may invite the last administrator again.
   * @throws ServiceError STAFF_LIMIT_REACHED
   */
  async inviteByName(bizID: string | null, name: string, role: Role, now: number, author: Author): Promise<Invitation> {
    const invitation = await this.#home.transaction(async (transaction) => {
      const person = await lockPerson(transaction, bizID, eq(staff.name, name));
      if (person === undefined) return undefined;
      await transaction.update(staff).set({ role }).where(eq(staff.personID, person.personID));
      return inviteAgain(transaction, { ...person, role }, now, author);
    });
    return invitation ?? this.add(bizID, name, role, now, author);
  }

  /** Which of these people are, or were, of the partner's staff. */
  async ofPartner(bizID: string, personIDs: readonly string[]): Promise<Set<string>> {
    if (personIDs.length === 0) return new Set();
    const isOwn = and(eq(staff.bizID, bizID), inArray(staff.personID, [...personIDs]));
    const found = await this.#home.select({ personID: staff.personID }).from(staff).where(isOwn);
    return new Set(found.map(({ personID }) => personID));
  }

  /** Lists one page of a partner's people in the order of their names. @param after the name before the page */
  async list(bizID: string | null, after: string | undefined, limit: number): Promise<StaffInfo[]> {
    const { personID, name, role, created, lastSignIn } = staff;
    return this.#home
      .select({
        ...{ personID, bizID: staff.bizID, name, role, created, lastSignIn },
        invitationExpires: invitations.expires,
        passkeys: sql<number>`(select count(*)::int from ${passkeys} where ${passkeys.personID} = ${personID})`,
      })
      .from(staff)
      .leftJoin(invitations, eq(invitations.personID, personID))
      .where(and(isOf(bizID), isNull(staff.removed), after === undefined ? undefined : gt(name, after)))
      .orderBy(asc(name))
      .limit(limit);
  }

  /**
   * Gives a person another role.
   * @returns undefined when the partner has no such person
   * @throws ServiceError LAST_ADMINISTRATOR
   */
  setRole(
    bizID: string | null,
    personID: string,
    role: Role,
    now: number,
    author: Author,
  ): Promise<Person | undefined> {
    return this.#home.transaction(async (transaction) => {
      const person = await lockPerson(transaction, bizID, eq(staff.personID, personID));
      if (person === undefined) return undefined;
      if (role === person.role) return person;
      if (role !== "administrator") await requireAnotherAdministrator(transaction, person);
      await transaction.update(staff).set({ role }).where(eq(staff.personID, personID));
      const change = {
        action: "person.roleChanged",
        at: now,
        partner: bizID,
        person: personID,
        data: { role },
      } as const;
      await recordChange(transaction, author, change);
      return { ...person, role };
    });
  }

  /**
   * Removes a person, with the invitation, the passkeys and the sessions.
   * @returns undefined when the partner has no such person
   * @throws ServiceError LAST_ADMINISTRATOR
   */
  remove(bizID: string | null, personID: string, now: number, author: Author): Promise<Person | undefined> {
    return this.#home.transaction(async (transaction) => {
      const person = await lockPerson(transaction, bizID, eq(staff.personID, personID));
      if (person === undefined) return undefined;
      await requireAnotherAdministrator(transaction, person);
      await transaction.update(staff).set({ removed: now }).where(eq(staff.personID, personID));
      await endAccess(transaction, personID);
      const change = { action: "person.removed", at: now, partner: bizID, person: personID } as const;
      await recordChange(transaction, author, change);
      return person;
    });
  }
}

/** The people of a partner, or of the operator. */
function isOf(bizID: string | null): SQL {
  return bizID === null ? isNull(staff.bizID) : eq(staff.bizID, bizID);
}

/** Any number that no other advisory lock of this database has. */
const OPERATOR_LOCK = 7_240_115;

/** Changes of one partner's staff, or of the operator's, happen one after the other. */
async function lockPartner(transaction: Transaction, bizID: string | null): Promise<void> {
  if (bizID === null) {
    await transaction.execute(sql`select pg_advisory_xact_lock(${OPERATOR_LOCK})`);
    return;
  }
  await transaction
    .select({ bizID: partners.bizID })
    .from(partners)
    .where(eq(partners.bizID, bizID))
    .for("no key update");
}

async function lockPerson(transaction: Transaction, bizID: string | null, which: SQL): Promise<Person | undefined> {
  await lockPartner(transaction, bizID);
  const { personID, name, role } = staff;
  const [person] = await transaction
    .select({ personID, bizID: staff.bizID, name, role })
    .from(staff)
    .where(and(isOf(bizID), isNull(staff.removed), which))
    .for("no key update");
  return person;
}

/**
 * Locks a person: what ends their access, and what adds a passkey or a session, happen one after the other.
 * @returns undefined when the person was removed
 */
export async function lockStaff(transaction: Transaction, personID: string): Promise<Person | undefined> {
  const { name, role, bizID } = staff;
  const [person] = await transaction
    .select({ personID: staff.personID, bizID, name, role })
    .from(staff)
    .where(and(eq(staff.personID, personID), isNull(staff.removed)))
    .for("no key update");
  return person;
}

/** A partner without an administrator who can sign in would need the operator. @throws ServiceError LAST_ADMINISTRATOR */
async function requireAnotherAdministrator(transaction: Transaction, { bizID, personID, role }: Person): Promise<void> {
  if (role !== "administrator") return;
  const ownPasskeys = transaction.select().from(passkeys).where(eq(passkeys.personID, staff.personID));
  const others = await transaction
    .select({ personID: staff.personID })
    .from(staff)
    .where(
      and(
        ...[isOf(bizID), isNull(staff.removed), eq(staff.role, "administrator")],
        ...[ne(staff.personID, personID), exists(ownPasskeys)],
      ),
    )
    .limit(1);
  if (others.length > 0) return;
  const message = "No other administrator could sign in: add another administrator first.";
  throw new ServiceError(409, "LAST_ADMINISTRATOR", message);
}

/** Whoever holds the old passkeys is locked out before the new link is shown. */
async function inviteAgain(transaction: Transaction, person: Person, now: number, author: Author): Promise<Invitation> {
  await endAccess(transaction, person.personID);
  return invite(transaction, person, now, author);
}

async function endAccess(transaction: Transaction, personID: string): Promise<void> {
  await transaction.delete(invitations).where(eq(invitations.personID, personID));
  await transaction.delete(sessions).where(eq(sessions.personID, personID));
  await transaction.delete(passkeys).where(eq(passkeys.personID, personID));
}

async function invite(
  transaction: Transaction,
  { personID, bizID, name, role }: Person,
  now: number,
  author: Author,
): Promise<Invitation> {
  const token = randomBytes(32).toString("base64url");
  const expires = now + INVITATION_MS;
  await transaction.insert(invitations).values({ personID, tokenHash: hashSecret(token), expires });
  const data = { name, role };
  await recordChange(transaction, author, {
    action: "person.invited",
    at: now,
    partner: bizID,
    person: personID,
    data,
  });
  return { personID, name, role, token, expires };
}
