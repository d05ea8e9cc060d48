import { and, asc, eq, exists, gt, inArray, isNull, ne, type SQL, sql } from "drizzle-orm";
import { ServiceError } from "keyroot/errors";
import { type Actor, type Author, recordChange } from "../auditLog/recordChange.ts";
import type { Database } from "../database/database.ts";
import { invitations, passkeys, type Role, sessions, staff } from "./tables.ts";
import { partners } from "../partners/tables.ts";

/** A person who may sign in to the dashboard. */
export interface Person {
  /** A UUID. */
  personID: string;
  /** The partner whose staff it is; null for the operator's. */
  bizID: string | null;
  name: string;
  role: Role;
}

/** A person as the author of a change. */
export function actorOfPerson({ bizID: partner, personID: person, name }: Person): Actor {
  return { kind: "person", partner, person, name };
}

/** A person in the list of a partner's staff. */
export interface StaffInfo extends Person {
  /** Milliseconds since 1970. */
  created: number;
  /** Milliseconds since 1970; null before the first sign-in. */
  lastSignIn: number | null;
  /** Expiry of the unused invitation in milliseconds since 1970; null without one. */
  invitationExpires: number | null;
  passkeys: number;
}

export type Transaction = Parameters<Parameters<Database["transaction"]>[0]>[0];

/** Stores the staff of partners and of the operator, in the home database. A null `bizID` stands for the operator. */
export class StaffStore {
  readonly #home: Database;

  constructor(home: Database) {
    this.#home = home;
  }

  /** Finds the people who are or were members of the partner's staff. */
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
      return removePerson(transaction, person, now, author);
    });
  }

  /**
   * Removes the person with this name, for the operator. Unlike a partner's administrator, the operator may remove the last
   * one.
   * @returns undefined when the partner has no such person
   */
  removeByName(bizID: string, name: string, now: number, author: Author): Promise<Person | undefined> {
    return this.#home.transaction(async (transaction) => {
      const person = await lockPerson(transaction, bizID, eq(staff.name, name));
      return person && removePerson(transaction, person, now, author);
    });
  }
}

async function removePerson(transaction: Transaction, person: Person, now: number, author: Author): Promise<Person> {
  const { personID, bizID } = person;
  await transaction.update(staff).set({ removed: now }).where(eq(staff.personID, personID));
  await endAccess(transaction, personID);
  const change = { action: "person.removed", at: now, partner: bizID, person: personID } as const;
  await recordChange(transaction, author, change);
  return person;
}

/** The people of a partner, or of the operator. */
export function isOf(bizID: string | null): SQL {
  return bizID === null ? isNull(staff.bizID) : eq(staff.bizID, bizID);
}

/** A number that no other advisory lock of this database uses. */
const OPERATOR_LOCK = 7_240_115;

/** Serializes changes of one partner's staff, or of the operator's staff. */
export async function lockPartner(transaction: Transaction, bizID: string | null): Promise<void> {
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

export async function lockPerson(
  transaction: Transaction,
  bizID: string | null,
  which: SQL,
): Promise<Person | undefined> {
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
 * Locks a person. This serializes requests that end the person's access, or add a passkey or a session.
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

/**
 * Checks that another administrator can sign in. Otherwise only the operator could help the partner. @throws ServiceError
 * LAST_ADMINISTRATOR
 */
export async function requireAnotherAdministrator(
  transaction: Transaction,
  { bizID, personID, role }: Person,
): Promise<void> {
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

/** Ends the invitation, the passkeys and the sessions of a person. */
export async function endAccess(transaction: Transaction, personID: string): Promise<void> {
  await transaction.delete(invitations).where(eq(invitations.personID, personID));
  await transaction.delete(sessions).where(eq(sessions.personID, personID));
  await transaction.delete(passkeys).where(eq(passkeys.personID, personID));
}
