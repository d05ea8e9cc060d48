import { randomBytes, randomUUID } from "node:crypto";
import { and, count, eq, gt, isNull } from "../api/database/drizzle.ts";
import { ServiceError } from "../api/base/errors.ts";
import { hashSecret } from "../api/database/secrets.ts";
import { recordChange } from "../auditLog/recordChange.ts";
import type { Author } from "../api/base/author.ts";
import type { Database } from "../api/database/database.ts";
import { endAccess, isOf, lockStaffOf, lockPerson, requireAnotherAdministrator, type Transaction } from "./staff.ts";
import type { Person, Role } from "../api/base/principals.ts";
import { invitations, staff } from "./tables.ts";

/** Lifetime of an invitation link in ms. */
const INVITATION_MS = 15 * 60 * 1000;
/** Maximum number of people per partner. */
const MAX_STAFF = 200;

/** A new invitation with its token, which is not stored and cannot be read later. */
export interface Invitation {
  personID: string;
  name: string;
  role: Role;
  /** The token of the link: 256 random bits in base64url. */
  token: string;
  expires: number;
}

/** Stores invitations to the dashboard in the home database. A null `bizID` means the operator. */
export class InvitationStore {
  readonly #home: Database;

  constructor(home: Database) {
    this.#home = home;
  }

  /** Adds a person and creates an invitation. @throws ServiceError NAME_TAKEN, STAFF_LIMIT_REACHED */
  add(bizID: string | null, name: string, role: Role, now: number, author: Author): Promise<Invitation> {
    return this.#home.transaction(async (transaction) => {
      await lockStaffOf(transaction, bizID);
      const isActive = and(isOf(bizID), isNull(staff.removed));
      const [active] = await transaction.select({ people: count() }).from(staff).where(isActive);
      if ((active?.people ?? 0) >= MAX_STAFF)
        throw new ServiceError(
          409,
          "STAFF_LIMIT_REACHED",
          `The maximum of ${MAX_STAFF} people is reached. Remove one.`,
        );
      const person = { personID: randomUUID(), bizID, name, role, created: now };
      // The lock prevents concurrent requests from adding the same name.
      const named = await transaction
        .select()
        .from(staff)
        .where(and(isActive, eq(staff.name, name)));
      if (named.length > 0)
        throw new ServiceError(409, "NAME_TAKEN", "Another person has this name. Choose a different name.");
      await transaction.insert(staff).values(person);
      return invite(transaction, person, now, author);
    });
  }

  /**
   * Invites a person again. This ends the person's earlier invitation, passkeys and sessions.
   * @returns undefined if the partner has no such person
   * @throws ServiceError LAST_ADMINISTRATOR if no other administrator could sign in
   */
  again(bizID: string | null, personID: string, now: number, author: Author): Promise<Invitation | undefined> {
    return this.#home.transaction(async (transaction) => {
      const person = await lockPerson(transaction, bizID, eq(staff.personID, personID));
      if (person === undefined) return undefined;
      await requireAnotherAdministrator(transaction, person);
      return inviteAgain(transaction, person, now, author);
    });
  }

  /**
   * Invites a new or known person by name, at the operator's request. Only the operator may invite a partner's last
   * administrator again.
   * @throws ServiceError STAFF_LIMIT_REACHED
   */
  async byName(bizID: string | null, name: string, role: Role, now: number, author: Author): Promise<Invitation> {
    const invitation = await this.#home.transaction(async (transaction) => {
      const person = await lockPerson(transaction, bizID, eq(staff.name, name));
      if (person === undefined) return undefined;
      await transaction.update(staff).set({ role }).where(eq(staff.personID, person.personID));
      return inviteAgain(transaction, { ...person, role }, now, author);
    });
    return invitation ?? this.add(bizID, name, role, now, author);
  }

  /** Finds the person whom a link invites. @returns the person's id. Undefined for an unknown, used or replaced link */
  async findPerson(token: string): Promise<string | undefined> {
    const tokenHash = hashSecret(token);
    const [found] = await this.#home.select().from(invitations).where(eq(invitations.tokenHash, tokenHash));
    return found?.personID;
  }
}

/** Uses up an invitation. @returns false if the invitation is unknown, used, replaced or expired */
export async function useInvitation(transaction: Transaction, token: string, now: number): Promise<boolean> {
  const isValid = and(eq(invitations.tokenHash, hashSecret(token)), gt(invitations.expires, now));
  return (await transaction.delete(invitations).where(isValid).returning()).length > 0;
}

/** Creates a new invitation. The person's old passkeys end before the new link is shown. */
async function inviteAgain(transaction: Transaction, person: Person, now: number, author: Author): Promise<Invitation> {
  await endAccess(transaction, person.personID);
  return invite(transaction, person, now, author);
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
