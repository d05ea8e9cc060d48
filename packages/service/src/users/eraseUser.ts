import { and, eq, isNull } from "../database/drizzle.ts";
import type { UserID } from "keyroot/internal/identity";
import { ServiceError } from "../errors.ts";
import { type Author, recordChange } from "../auditLog/recordChange.ts";
import type { Database } from "../database/database.ts";
import { conflictingKeys, isPending, keyEvents, possessionChallenges, publicKeys } from "../keys/tables.ts";
import { users } from "./tables.ts";
import { userTokens } from "../tokens/tables.ts";
import { userDeactivated } from "../tokens/tokenState.ts";

export interface ErasedUser {
  userID: UserID;
  /** Time of the erasure in milliseconds since 1970. */
  erased: number;
  /** Whether the user's public key remains. A key remains if the key is on the chain or a publisher took the key. */
  keyRemains: boolean;
}

/**
 * Erases a user in one transaction. Deletes the user's tokens, salt, challenges and key history. Also deletes the
 * user's key, unless a publisher took the key. The user's row remains, so that the id cannot be used again. Repeating
 * the call has no effect.
 * @param database the database of the user's region
 * @returns undefined if the user does not exist
 */
export function eraseUser(
  database: Database,
  userID: UserID,
  now: number,
  author: Author,
): Promise<ErasedUser | undefined> {
  return database.transaction(async (transaction) => {
    const [user] = await transaction.select().from(users).where(eq(users.userID, userID)).for("update");
    if (user === undefined) return undefined;
    const { erased, deactivated } = { erased: user.erased ?? now, deactivated: user.deactivated ?? now };
    await transaction.update(users).set({ salt: "", deactivated, erased }).where(eq(users.userID, userID));
    for (const table of [userTokens, keyEvents, conflictingKeys, possessionChallenges])
      await transaction.delete(table).where(eq(table.userID, userID));
    await transaction.delete(publicKeys).where(and(eq(publicKeys.userID, userID), isPending));
    const keys = await transaction.select().from(publicKeys).where(eq(publicKeys.userID, userID));
    if (user.erased === null)
      await recordChange(transaction, author, { action: "user.erased", at: now, partner: user.bizID, user: userID });
    return { userID, erased, keyRemains: keys.length > 0 };
  });
}

/**
 * Locks an active user until the transaction ends. A locked user cannot be deactivated or erased.
 * @throws ServiceError USER_DEACTIVATED
 */
export async function lockActiveUser(transaction: Database, userID: UserID): Promise<void> {
  const isActive = and(eq(users.userID, userID), isNull(users.deactivated));
  const found = await transaction.select({ userID: users.userID }).from(users).where(isActive).for("share");
  if (found.length === 0) throw userDeactivated();
}

/** The error for an attempt to create an erased user again. */
export function userErased(): ServiceError {
  return new ServiceError(
    409,
    "USER_ERASED",
    "This user was erased, and its id cannot be used again. Choose another id.",
  );
}
