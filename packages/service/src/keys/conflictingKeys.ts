import { and, count, eq, isNull, sql } from "../api/database/drizzle.ts";
import type { KeyInError } from "@keyroot/client/internal";
import type { KeyRecord, UserID } from "keyroot/internal/identity";
import { ServiceError } from "../api/base/errors.ts";
import type { Author } from "../api/base/author.ts";
import type { Database, Databases } from "../api/database/database.ts";
import { recordKeyChange } from "./keyEvents.ts";
import { conflictingKeys, publicKeys } from "./tables.ts";
import type { User } from "../users/newUser.ts";

/** A key that was withdrawn, or that was offered for a user who has another key. */
export type ConflictingKey = Omit<typeof conflictingKeys.$inferSelect, "userID" | "decided">;

/**
 * Maximum number of undecided keys per user that were offered without a proof of possession. One such key is enough to
 * make the user's key undecided.
 */
export const MAX_OFFERED = 10;
/**
 * Maximum number of withdrawn keys per user that still await a decision. The user proved possession of these keys, so
 * they are counted separately from keys that were only offered.
 */
export const MAX_WITHDRAWN = 100;

/** Records a conflicting key that was rejected. */
export async function offerKey(
  databases: Databases,
  { region, userID, bizID }: User,
  { pubKey, keyID }: KeyRecord,
  now: number,
  author: Author,
): Promise<void> {
  await databases.regions[region].transaction(async (transaction) => {
    const ofUser = eq(publicKeys.userID, userID);
    // The row lock prevents a publisher from taking the key at the same time.
    const [current] = await transaction.select().from(publicKeys).where(ofUser).for("update");
    if (current === undefined || current.keyID === keyID) return;
    if (!(await addConflicting(transaction, { userID, pubKey, keyID, offered: now, withdrawn: false }))) return;
    await transaction
      .update(publicKeys)
      .set({ undecidedSince: sql`coalesce(${publicKeys.undecidedSince}, ${now})` })
      .where(ofUser);
    const data = { key_id: keyID };
    await recordKeyChange(transaction, author, { action: "key.conflict", at: now, partner: bizID, user: userID, data });
  });
}

/** Lists the conflicting keys about which the partner has not decided. */
export function listUndecided({ regions }: Databases, { region, userID }: User): Promise<ConflictingKey[]> {
  const { pubKey, keyID, offered, withdrawn } = conflictingKeys;
  return regions[region]
    .select({ pubKey, keyID, offered, withdrawn })
    .from(conflictingKeys)
    .where(and(eq(conflictingKeys.userID, userID), isNull(conflictingKeys.decided)))
    .orderBy(offered, keyID);
}

/**
 * @returns false if the key is already recorded, or if the user has the maximum number of keys of its kind
 */
async function addConflicting(transaction: Database, key: ConflictingKey & { userID: UserID }): Promise<boolean> {
  const [undecided] = await transaction
    .select({ keys: count() })
    .from(conflictingKeys)
    .where(
      and(
        eq(conflictingKeys.userID, key.userID),
        eq(conflictingKeys.withdrawn, key.withdrawn),
        isNull(conflictingKeys.decided),
      ),
    );
  if ((undecided?.keys ?? 0) >= (key.withdrawn ? MAX_WITHDRAWN : MAX_OFFERED)) return false;
  const [added] = await transaction.insert(conflictingKeys).values(key).onConflictDoNothing().returning();
  return added !== undefined;
}

/**
 * Records a withdrawn key. An attacker may have withdrawn it, so the partner's earlier decision about it is canceled.
 */
export async function addWithdrawn(transaction: Database, key: ConflictingKey & { userID: UserID }): Promise<void> {
  if (await addConflicting(transaction, key)) return;
  const { userID, keyID, offered, withdrawn } = key;
  await transaction
    .update(conflictingKeys)
    .set({ offered, withdrawn, decided: null })
    .where(and(eq(conflictingKeys.userID, userID), eq(conflictingKeys.keyID, keyID)));
}

/**
 * Marks all keys of a user as decided, and deletes those that were decided earlier.
 * @returns whether any key was undecided
 */
export async function decide(transaction: Database, userID: UserID, now: number): Promise<boolean> {
  const ofUser = eq(conflictingKeys.userID, userID);
  await transaction.delete(conflictingKeys).where(and(ofUser, sql`${conflictingKeys.decided} is not null`));
  const decided = await transaction.update(conflictingKeys).set({ decided: now }).where(ofUser).returning();
  return decided.length > 0;
}

/** The error for a user who has registered a different key. */
export function differentKeyRegistered({ state, holdEndsAt }: KeyInError): ServiceError {
  const message =
    state === "pending"
      ? "A different public key is registered for the user. If it is not the user's key, withdraw it while it is pending."
      : "A different public key is registered for the user. It can no longer be changed.";
  const key: KeyInError = state === "pending" && holdEndsAt !== undefined ? { state, holdEndsAt } : { state };
  return new ServiceError(409, "PUBLIC_KEY_REGISTERED", message, { key });
}
