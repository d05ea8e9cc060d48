import { and, eq, or } from "../api/database/drizzle.ts";
import type { UserID } from "keyroot/internal/identity";
import { recordChange } from "../auditLog/recordChange.ts";
import type { Author } from "../api/base/author.ts";
import type { Databases } from "../api/database/database.ts";
import { findClaims } from "../users/claims.ts";
import {
  accounts,
  conflictingKeys,
  isPending,
  keyEvents,
  keyStatements,
  possessionChallenges,
  publicKeys,
} from "./tables.ts";
import { users } from "../users/tables.ts";
import { userTokens } from "../tokens/tables.ts";

/**
 * Erases a user in one transaction: the tokens, salt, challenges, key history and account. The key is also erased,
 * unless a publisher has taken it. The user's row is kept, so that the id cannot be used again. Repeating the call has
 * no effect.
 * @returns undefined if the partner has no such user. `keyRemains`: whether the key is kept, because it is on the chain
 *   or a publisher has taken it
 */
export async function eraseUser(
  { home, regions }: Databases,
  bizID: string,
  userID: UserID,
  now: number,
  author: Author,
) {
  const [claim] = await findClaims(home, [userID]);
  if (claim?.bizID !== bizID) return undefined;
  return regions[claim.region].transaction(async (transaction) => {
    const [user] = await transaction.select().from(users).where(eq(users.userID, userID)).for("update");
    if (user === undefined) return undefined;
    const { erased, deactivated } = { erased: user.erased ?? now, deactivated: user.deactivated ?? now };
    await transaction.update(users).set({ salt: "", deactivated, erased }).where(eq(users.userID, userID));
    for (const table of [userTokens, keyEvents, conflictingKeys, possessionChallenges, keyStatements, accounts])
      await transaction.delete(table).where(eq(table.userID, userID));
    const ofUser = or(eq(publicKeys.userID, userID), eq(publicKeys.account, userID));
    await transaction.delete(publicKeys).where(and(ofUser, isPending));
    const keys = await transaction.select().from(publicKeys).where(ofUser);
    if (user.erased === null)
      await recordChange(transaction, author, { action: "user.erased", at: now, partner: user.bizID, user: userID });
    return { userID, erased, keyRemains: keys.length > 0 };
  });
}
