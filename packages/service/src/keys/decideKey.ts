import { and, eq } from "../api/database/drizzle.ts";
import type { UserID } from "keyroot/internal/identity";
import type { Author } from "../api/base/author.ts";
import type { Database, Databases } from "../api/database/database.ts";
import type { User } from "../users/newUser.ts";
import { lockActiveUser } from "../users/users.ts";
import { addWithdrawn, decide } from "./conflictingKeys.ts";
import { recordKeyChange, wasRemoved } from "./keyEvents.ts";
import { isPending, publicKeys } from "./tables.ts";

/**
 * The outcome of removing or approving a key:
 * - `done`: this call or an earlier one succeeded;
 * - `unknown`: the user does not have this key;
 * - `submitted`: publishing of the key has begun.
 */
export type DecisionOutcome = "done" | "unknown" | "submitted";

/**
 * Approves a user's pending key at the partner's request, and marks all conflicting keys of the user as decided.
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
    const change = { action: "key.approved", at: now, partner: bizID, user: userID, data: { key_id: keyID } } as const;
    if (await decide(transaction, userID, now)) await recordKeyChange(transaction, author, change);
    return "done";
  });
}

/**
 * Removes a user's pending key. The action is `key.withdrawn` at the user's request, and `key.discarded` at the
 * partner's. A removal by the partner also marks all conflicting keys of the user as decided.
 */
export function withdrawOrDiscardKey(
  databases: Databases,
  { region, userID, bizID }: User,
  keyID: string,
  now: number,
  action: "key.withdrawn" | "key.discarded",
  author: Author,
): Promise<DecisionOutcome> {
  return databases.regions[region].transaction(async (transaction) => {
    const [removed] = await transaction
      .delete(publicKeys)
      .where(and(eq(publicKeys.userID, userID), eq(publicKeys.keyID, keyID), isPending))
      .returning();
    if (removed === undefined) return whyNotRemoved(transaction, userID, keyID);
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

async function whyNotRemoved(transaction: Database, userID: UserID, keyID: string): Promise<DecisionOutcome> {
  const [current] = await transaction.select().from(publicKeys).where(eq(publicKeys.userID, userID));
  if (current !== undefined) {
    // If a key with this id is pending now, the user registered the key after the deletion.
    const isSubmitted = current.submitted !== null || current.root !== null;
    return current.keyID === keyID && isSubmitted ? "submitted" : "unknown";
  }
  // The response to an earlier call may have been lost, so a repeated call succeeds.
  return (await wasRemoved(transaction, userID, keyID)) ? "done" : "unknown";
}
