import { and, count, eq, isNull, ne, sql } from "drizzle-orm";
import type { KeyInError } from "keyroot/errors";
import type { KeyRecord, UserID } from "keyroot/identity";
import { ServiceError } from "../errors.ts";
import type { Author } from "../auditLog/recordChange.ts";
import type { Database, Databases } from "../database/database.ts";
import { listKeyEvents, recordKeyChange } from "./keyEvents.ts";
import { conflictingKeys, publicKeys } from "./tables.ts";
import type { User } from "../users/newUser.ts";

/** A key that was withdrawn, or that was offered for a user who has another key. */
export interface ConflictingKey {
  pubKey: string;
  keyID: string;
  /** Time of the offer, in milliseconds since 1970. */
  offered: number;
  withdrawn: boolean;
}

/**
 * The outcome of removing or approving a key. `done`: the call or an earlier call succeeded. `unknown`: the user does
 * not have this key. `submitted`: publishing of the key has begun.
 */
export type DecisionOutcome = "done" | "unknown" | "submitted";

/** Maximum number of undecided conflicting keys per user. The first one already makes the user's key undecided. */
const MAX_UNDECIDED = 10;

/**
 * A key that no publisher has taken. Publishers use the same condition, so only one of two concurrent calls succeeds.
 */
const isPending = and(isNull(publicKeys.submitted), isNull(publicKeys.root));

/** Stores the conflicting keys of unpublished keys, withdrawals, and partners' decisions. */
export class ConflictingKeys {
  readonly #databases: Databases;

  constructor(databases: Databases) {
    this.#databases = databases;
  }

  /** Records a conflicting key that was refused. */
  async offer(
    { region, userID, bizID }: User,
    { pubKey, keyID }: KeyRecord,
    now: number,
    author: Author,
  ): Promise<void> {
    await this.#databases.regions[region].transaction(async (transaction) => {
      const ofUser = eq(publicKeys.userID, userID);
      // The row lock prevents a publisher from taking the key at the same time.
      const [current] = await transaction.select().from(publicKeys).where(ofUser).for("update");
      if (current === undefined || current.keyID === keyID) return;
      if (!(await addConflicting(transaction, { userID, pubKey, keyID, offered: now, withdrawn: false }))) return;
      await transaction
        .update(publicKeys)
        .set({ undecidedSince: sql`coalesce(${publicKeys.undecidedSince}, ${now})` })
        .where(ofUser);
      const change = {
        action: "key.conflict",
        at: now,
        partner: bizID,
        user: userID,
        data: { key_id: keyID },
      } as const;
      await recordKeyChange(transaction, author, change);
    });
  }

  /** Removes a user's own pending key at the user's request. */
  withdraw(user: User, keyID: string, now: number, author: Author): Promise<DecisionOutcome> {
    return this.#remove(user, keyID, now, "key.withdrawn", author);
  }

  /** Removes a pending key at the partner's request. This also decides about all other keys of the user. */
  discard(user: User, keyID: string, now: number, author: Author): Promise<DecisionOutcome> {
    return this.#remove(user, keyID, now, "key.discarded", author);
  }

  async approve({ region, userID, bizID }: User, keyID: string, now: number, author: Author): Promise<DecisionOutcome> {
    return this.#databases.regions[region].transaction(async (transaction) => {
      const ofUser = eq(publicKeys.userID, userID);
      const [current] = await transaction.select().from(publicKeys).where(ofUser).for("update");
      if (current?.keyID !== keyID) return "unknown";
      if (current.submitted !== null || current.root !== null) return "submitted";
      await transaction.update(publicKeys).set({ undecidedSince: null }).where(ofUser);
      const change = {
        action: "key.approved",
        at: now,
        partner: bizID,
        user: userID,
        data: { key_id: keyID },
      } as const;
      if (await decide(transaction, userID, now)) await recordKeyChange(transaction, author, change);
      return "done";
    });
  }

  listUndecided({ region, userID }: User): Promise<ConflictingKey[]> {
    const { pubKey, keyID, offered, withdrawn } = conflictingKeys;
    return this.#databases.regions[region]
      .select({ pubKey, keyID, offered, withdrawn })
      .from(conflictingKeys)
      .where(and(eq(conflictingKeys.userID, userID), isNull(conflictingKeys.decided)))
      .orderBy(offered, keyID);
  }

  /** Lists the events in the history of the user's keys, newest first. */
  listEvents({ region, userID }: User) {
    return listKeyEvents(this.#databases.regions[region], userID);
  }

  #remove(
    { region, userID, bizID }: User,
    keyID: string,
    now: number,
    action: "key.withdrawn" | "key.discarded",
    author: Author,
  ): Promise<DecisionOutcome> {
    return this.#databases.regions[region].transaction(async (transaction) => {
      const [removed] = await transaction
        .delete(publicKeys)
        .where(and(eq(publicKeys.userID, userID), eq(publicKeys.keyID, keyID), isPending))
        .returning();
      if (removed === undefined) return this.#whyNotRemoved(transaction, userID, keyID);
      if (action === "key.discarded") await decide(transaction, userID, now);
      else await addWithdrawn(transaction, { userID, pubKey: removed.pubKey, keyID, offered: now, withdrawn: true });
      await recordKeyChange(transaction, author, {
        action,
        at: now,
        partner: bizID,
        user: userID,
        data: { key_id: keyID },
      });
      return "done";
    });
  }

  async #whyNotRemoved(transaction: Database, userID: UserID, keyID: string): Promise<DecisionOutcome> {
    const [current] = await transaction.select().from(publicKeys).where(eq(publicKeys.userID, userID));
    if (current !== undefined) {
      // A pending key with this id was registered only after the deletion.
      const isSubmitted = current.submitted !== null || current.root !== null;
      return current.keyID === keyID && isSubmitted ? "submitted" : "unknown";
    }
    // The response to an earlier call may have been lost, so a repeated call succeeds.
    return (await wasRemoved(transaction, userID, keyID)) ? "done" : "unknown";
  }
}

/** Returns a new key's initial state. `afterWithdrawal`: whether an earlier key of the user was removed. */
export async function initialStateOf(
  transaction: Database,
  { userID, keyID }: KeyRecord,
  now: number,
): Promise<{ undecidedSince: number | null; afterWithdrawal: boolean }> {
  const [other] = await transaction
    .select({ keyID: conflictingKeys.keyID })
    .from(conflictingKeys)
    .where(and(eq(conflictingKeys.userID, userID), ne(conflictingKeys.keyID, keyID), isNull(conflictingKeys.decided)))
    .limit(1);
  const afterWithdrawal = await wasRemoved(transaction, userID);
  return { undecidedSince: other === undefined ? null : now, afterWithdrawal };
}

/** Whether the user's newest event is the removal of a key, or of the key `keyID`. */
async function wasRemoved(transaction: Database, userID: UserID, keyID?: string): Promise<boolean> {
  const [last] = await listKeyEvents(transaction, userID, 1);
  const isRemoval = last?.type === "withdrawn" || last?.type === "discarded";
  return isRemoval && (keyID === undefined || last.keyID === keyID);
}

/** @returns false if the key is already recorded or the user has the maximum number of keys */
async function addConflicting(transaction: Database, key: ConflictingKey & { userID: UserID }): Promise<boolean> {
  const [undecided] = await transaction
    .select({ keys: count() })
    .from(conflictingKeys)
    .where(and(eq(conflictingKeys.userID, key.userID), isNull(conflictingKeys.decided)));
  if ((undecided?.keys ?? 0) >= MAX_UNDECIDED) return false;
  const [added] = await transaction.insert(conflictingKeys).values(key).onConflictDoNothing().returning();
  return added !== undefined;
}

/**
 * Records a withdrawn key. This cancels the partner's earlier decision, because an attacker may have withdrawn the key.
 */
async function addWithdrawn(transaction: Database, key: ConflictingKey & { userID: UserID }): Promise<void> {
  if (await addConflicting(transaction, key)) return;
  const { userID, keyID, offered, withdrawn } = key;
  await transaction
    .update(conflictingKeys)
    .set({ offered, withdrawn, decided: null })
    .where(and(eq(conflictingKeys.userID, userID), eq(conflictingKeys.keyID, keyID)));
}

/** Marks all keys of a user as decided, and deletes keys decided earlier. @returns whether any key was undecided */
async function decide(transaction: Database, userID: UserID, now: number): Promise<boolean> {
  const ofUser = eq(conflictingKeys.userID, userID);
  await transaction.delete(conflictingKeys).where(and(ofUser, sql`${conflictingKeys.decided} is not null`));
  const decided = await transaction.update(conflictingKeys).set({ decided: now }).where(ofUser).returning();
  return decided.length > 0;
}

/** The error for a user who has registered a different key. */
export function differentKeyRegistered({ state, holdEndsAt }: KeyInError): ServiceError {
  const message =
    state === "pending"
      ? "The user has registered a different public key. It can be withdrawn while it is pending, if it is not the user's."
      : "The user has registered a different public key, which cannot be changed.";
  const key: KeyInError = state === "pending" && holdEndsAt !== undefined ? { state, holdEndsAt } : { state };
  return new ServiceError(409, "PUBLIC_KEY_REGISTERED", message, { key });
}
