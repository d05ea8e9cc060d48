import { and, count, eq, isNull, ne, sql } from "drizzle-orm";
import type { KeyRecord, UserID } from "keyroot/identity";
import { type Author, recordChange } from "./changes.ts";
import type { Database, Databases } from "./database.ts";
import { listKeyEvents } from "./keyEvents.ts";
import { offeredKeys, publicKeys } from "./tables.ts";
import type { User } from "./users.ts";

/** Another key than the user's: offered and refused, or withdrawn. */
export interface OfferedKey {
  pubKey: string;
  keyID: string;
  /** Milliseconds since 1970. */
  offered: number;
  withdrawn: boolean;
}

/**
 * The outcome of removing or approving a key: `done`, also if the call is repeated; `unknown` if it is not the user's key;
 * `submitted` if it is too late.
 */
export type ObjectionOutcome = "done" | "unknown" | "submitted";

/** Undecided keys that are recorded for a user. Further ones do not matter: the user's key is disputed already. */
const MAX_UNDECIDED = 10;

/** A key that no publisher has taken. A publisher takes a key with the same condition, so one of both succeeds. */
const isPending = and(isNull(publicKeys.submitted), isNull(publicKeys.root));

/** Stores objections to keys that are not published: keys offered by someone else, withdrawals, and partners' decisions. */
export class KeyObjections {
  readonly #databases: Databases;

  constructor(databases: Databases) {
    this.#databases = databases;
  }

  /** Records that another key was offered for a user who has one, and was refused. */
  async offer(
    { region, userID, bizID }: User,
    { pubKey, keyID }: KeyRecord,
    now: number,
    author: Author,
  ): Promise<void> {
    await this.#databases.regions[region].transaction(async (transaction) => {
      const ofUser = eq(publicKeys.userID, userID);
      // The row lock orders this before or after a publisher that takes the key.
      const [current] = await transaction.select().from(publicKeys).where(ofUser).for("update");
      if (current === undefined || current.keyID === keyID) return;
      if (!(await addOffered(transaction, { userID, pubKey, keyID, offered: now, withdrawn: false }))) return;
      await transaction
        .update(publicKeys)
        .set({ disputed: sql`coalesce(${publicKeys.disputed}, ${now})` })
        .where(ofUser);
      const change = { action: "key.refused", at: now, partner: bizID, user: userID, data: { keyID } } as const;
      await recordChange(transaction, author, change);
    });
  }

  /** Removes a user's own pending key. */
  withdraw(user: User, keyID: string, now: number, author: Author): Promise<ObjectionOutcome> {
    return this.#remove(user, keyID, now, "key.withdrawn", author);
  }

  /** Removes a pending key for the partner, which also decides about all other keys of the user. */
  discard(user: User, keyID: string, now: number, author: Author): Promise<ObjectionOutcome> {
    return this.#remove(user, keyID, now, "key.discarded", author);
  }

  /** Records that the partner decides for the user's pending key. */
  async approve(
    { region, userID, bizID }: User,
    keyID: string,
    now: number,
    author: Author,
  ): Promise<ObjectionOutcome> {
    return this.#databases.regions[region].transaction(async (transaction) => {
      const ofUser = eq(publicKeys.userID, userID);
      const [current] = await transaction.select().from(publicKeys).where(ofUser).for("update");
      if (current?.keyID !== keyID) return "unknown";
      if (current.submitted !== null || current.root !== null) return "submitted";
      await transaction.update(publicKeys).set({ disputed: null }).where(ofUser);
      const change = { action: "key.approved", at: now, partner: bizID, user: userID, data: { keyID } } as const;
      if (await decide(transaction, userID, now)) await recordChange(transaction, author, change);
      return "done";
    });
  }

  /** The keys that were offered or withdrawn, the first one first; only those about which the partner has not decided. */
  listUndecided({ region, userID }: User): Promise<OfferedKey[]> {
    const { pubKey, keyID, offered, withdrawn } = offeredKeys;
    return this.#databases.regions[region]
      .select({ pubKey, keyID, offered, withdrawn })
      .from(offeredKeys)
      .where(and(eq(offeredKeys.userID, userID), isNull(offeredKeys.decided)))
      .orderBy(offered, keyID);
  }

  /** What happened to the user's keys, the newest first. */
  listEvents({ region, userID }: User) {
    return listKeyEvents(this.#databases.regions[region], userID);
  }

  #remove(
    { region, userID, bizID }: User,
    keyID: string,
    now: number,
    action: "key.withdrawn" | "key.discarded",
    author: Author,
  ): Promise<ObjectionOutcome> {
    return this.#databases.regions[region].transaction(async (transaction) => {
      const [removed] = await transaction
        .delete(publicKeys)
        .where(and(eq(publicKeys.userID, userID), eq(publicKeys.keyID, keyID), isPending))
        .returning();
      if (removed === undefined) return this.#whyNotRemoved(transaction, userID, keyID);
      if (action === "key.discarded") await decide(transaction, userID, now);
      else await addWithdrawn(transaction, { userID, pubKey: removed.pubKey, keyID, offered: now, withdrawn: true });
      await recordChange(transaction, author, { action, at: now, partner: bizID, user: userID, data: { keyID } });
      return "done";
    });
  }

  async #whyNotRemoved(transaction: Database, userID: UserID, keyID: string): Promise<ObjectionOutcome> {
    const [current] = await transaction.select().from(publicKeys).where(eq(publicKeys.userID, userID));
    if (current !== undefined) return current.keyID === keyID ? "submitted" : "unknown";
    // A repeated call, whose first response was lost.
    return (await wasRemoved(transaction, userID, keyID)) ? "done" : "unknown";
  }
}

/** What a new key of a user begins with: a dispute if another key is undecided, and whether an earlier one was removed. */
export async function startOf(
  transaction: Database,
  { userID, keyID }: KeyRecord,
  now: number,
): Promise<{ disputed: number | null; afterWithdrawal: boolean }> {
  const [other] = await transaction
    .select({ keyID: offeredKeys.keyID })
    .from(offeredKeys)
    .where(and(eq(offeredKeys.userID, userID), ne(offeredKeys.keyID, keyID), isNull(offeredKeys.decided)))
    .limit(1);
  const afterWithdrawal = await wasRemoved(transaction, userID);
  return { disputed: other === undefined ? null : now, afterWithdrawal };
}

/** Whether the newest event of a user is that a key, or this one, was removed. */
async function wasRemoved(transaction: Database, userID: UserID, keyID?: string): Promise<boolean> {
  const [last] = await listKeyEvents(transaction, userID, 1);
  const isRemoval = last?.type === "withdrawn" || last?.type === "discarded";
  return isRemoval && (keyID === undefined || last.keyID === keyID);
}

/** @returns false when the key is recorded already, or enough others are */
async function addOffered(transaction: Database, key: OfferedKey & { userID: UserID }): Promise<boolean> {
  const [undecided] = await transaction
    .select({ keys: count() })
    .from(offeredKeys)
    .where(and(eq(offeredKeys.userID, key.userID), isNull(offeredKeys.decided)));
  if ((undecided?.keys ?? 0) >= MAX_UNDECIDED) return false;
  const [added] = await transaction.insert(offeredKeys).values(key).onConflictDoNothing().returning();
  return added !== undefined;
}

/**
 * Records a withdrawn key. If the partner had decided about it, the decision no longer applies: the user may not be the one who
 * withdrew it.
 */
async function addWithdrawn(transaction: Database, key: OfferedKey & { userID: UserID }): Promise<void> {
  if (await addOffered(transaction, key)) return;
  const { userID, keyID, offered, withdrawn } = key;
  await transaction
    .update(offeredKeys)
    .set({ offered, withdrawn, decided: null })
    .where(and(eq(offeredKeys.userID, userID), eq(offeredKeys.keyID, keyID)));
}

/** Marks all keys of a user as decided, and deletes those of earlier decisions. @returns whether any was undecided */
async function decide(transaction: Database, userID: UserID, now: number): Promise<boolean> {
  const ofUser = eq(offeredKeys.userID, userID);
  await transaction.delete(offeredKeys).where(and(ofUser, sql`${offeredKeys.decided} is not null`));
  const decided = await transaction.update(offeredKeys).set({ decided: now }).where(ofUser).returning();
  return decided.length > 0;
}
