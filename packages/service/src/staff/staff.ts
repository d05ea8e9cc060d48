import type { Person, Role } from "../api/base/principals.ts";
import { and, asc, eq, exists, gt, isNull, ne, type SQL, sql } from "../api/database/drizzle.ts";
import { ServiceError } from "../api/base/errors.ts";
import { recordChange } from "../auditLog/recordChange.ts";
import type { Author } from "../api/base/author.ts";
import { isAnyOf } from "../api/database/columns.ts";
import type { Database } from "../api/database/database.ts";
import { invitations, passkeys, sessions, staff } from "./tables.ts";
import { lockPartner } from "../partners/tables.ts";

/** The columns of a person. */
export const PERSON = { personID: staff.personID, bizID: staff.bizID, name: staff.name, role: staff.role };

export type Transaction = Parameters<Parameters<Database["transaction"]>[0]>[0];

/** Stores the staff of partners and of the operator in the home database. A null `bizID` means the operator. */
export class StaffStore {
  readonly #home: Database;

  constructor(home: Database) {
    this.#home = home;
  }

  /** Finds the people who are or were on the partner's staff. */
  async ofPartner(bizID: string, personIDs: readonly string[]): Promise<Set<string>> {
    if (personIDs.length === 0) return new Set();
    const isOwn = and(eq(staff.bizID, bizID), isAnyOf(staff.personID, personIDs));
    const found = await this.#home.select({ personID: staff.personID }).from(staff).where(isOwn);
    return new Set(found.map(({ personID }) => personID));
  }

  /** Lists one page of a partner's people, sorted by name. @param after the last name of the previous page */
  async list(bizID: string | null, after: string | undefined, limit: number) {
    const { personID, name, created, lastSignIn } = staff;
    return this.#home
      .select({
        ...PERSON,
        created,
        lastSignIn,
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
   * Changes a person's role.
   * @returns undefined if the partner has no such person
   * @throws ServiceError LAST_ADMINISTRATOR
   */
  setRole(bizID: string | null, personID: string, role: Role, now: number, author: Author) {
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
   * Removes a person, including their invitation, passkeys and sessions.
   * @returns undefined if the partner has no such person
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
   * Removes the person with this name at the operator's request. Only the operator may remove a partner's last
   * administrator.
   * @returns undefined if the partner has no such person
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

/** Selects the people of a partner, or of the operator if `bizID` is null. */
export function isOf(bizID: string | null): SQL {
  return bizID === null ? isNull(staff.bizID) : eq(staff.bizID, bizID);
}

/** A number that no other advisory lock in this database uses. */
const OPERATOR_LOCK = 7_240_115;

/** Locks the staff of a partner or of the operator, so that concurrent changes to it wait for each other. */
export async function lockStaffOf(transaction: Transaction, bizID: string | null): Promise<void> {
  if (bizID === null) {
    await transaction.execute(sql`select pg_advisory_xact_lock(${OPERATOR_LOCK})`);
    return;
  }
  await lockPartner(transaction, bizID);
}

export async function lockPerson(transaction: Transaction, bizID: string | null, which: SQL) {
  await lockStaffOf(transaction, bizID);
  return lockOne(transaction, and(isOf(bizID), which));
}

/**
 * Locks a person until the transaction ends. Requests that end the person's access, add a passkey or start a session
 * therefore wait for each other.
 * @returns undefined if the person was removed
 */
export function lockStaff(transaction: Transaction, personID: string): Promise<Person | undefined> {
  return lockOne(transaction, eq(staff.personID, personID));
}

async function lockOne(transaction: Transaction, which: SQL | undefined): Promise<Person | undefined> {
  const isActive = isNull(staff.removed);
  const [person] = await transaction.select(PERSON).from(staff).where(and(which, isActive)).for("no key update");
  return person;
}

/**
 * Checks that another administrator can sign in, because otherwise only the operator could help the partner.
 * @throws ServiceError LAST_ADMINISTRATOR
 */
export async function requireAnotherAdministrator(transaction: Transaction, { bizID, personID, role }: Person) {
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
  const message = "No other administrator could sign in. Add another administrator first.";
  throw new ServiceError(409, "LAST_ADMINISTRATOR", message);
}

export async function endAccess(transaction: Transaction, personID: string): Promise<void> {
  await transaction.delete(invitations).where(eq(invitations.personID, personID));
  await transaction.delete(sessions).where(eq(sessions.personID, personID));
  await transaction.delete(passkeys).where(eq(passkeys.personID, personID));
}
