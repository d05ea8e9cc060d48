import { eq } from "../api/database/drizzle.ts";
import type { Author } from "../api/base/author.ts";
import type { Databases } from "../api/database/database.ts";
import { decide } from "./conflictingKeys.ts";
import { recordKeyChange } from "./keyEvents.ts";
import { publicKeys } from "./tables.ts";
import type { User } from "../users/newUser.ts";
import { lockActiveUser } from "../users/users.ts";
import type { DecisionOutcome } from "./withdrawOrDiscardKey.ts";

/**
 * Approves a user's pending key at the partner's request. It then marks all conflicting keys of the user as decided.
 * @throws ServiceError USER_DEACTIVATED
 */
export async function approveKey(
  databases: Databases,
  { region, userID, bizID }: User,
  keyID: string,
  now: number,
  author: Author,
): Promise<DecisionOutcome> {
  return databases.regions[region].transaction(async (transaction) => {
    const ofUser = eq(publicKeys.userID, userID);
    // The key of a deactivated user is never published, so there is nothing to approve.
    await lockActiveUser(transaction, userID);
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
