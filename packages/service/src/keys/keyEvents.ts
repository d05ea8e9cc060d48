import { and, desc, eq, lte } from "../api/database/drizzle.ts";
import type { UserID } from "keyroot/internal/identity";
import { type Action, type Change, recordChange } from "../auditLog/recordChange.ts";
import type { Author } from "../api/base/author.ts";
import type { Database } from "../api/database/database.ts";
import { keyEvents } from "./tables.ts";

/** Maximum number of stored events per user. Older events are deleted. */
const MAX_PER_USER = 100;

/** The event that each action adds to the history of a user's keys. */
const EVENT_OF_ACTION: Partial<Record<Action, (typeof keyEvents.$inferSelect)["type"]>> = {
  "key.registered": "registered",
  "key.conflict": "conflict",
  "key.withdrawn": "withdrawn",
  "key.discarded": "discarded",
  "key.approved": "approved",
};

/**
 * Records a change of an unpublished key in the audit log, the partner's events and the user's key history.
 * @param transaction the transaction of the change, in the user's region
 */
export async function recordKeyChange(
  transaction: Database,
  author: Author,
  change: Change & { user: UserID },
): Promise<void> {
  await recordChange(transaction, author, change);
  const { action, user, at, data = {} } = change;
  const { key_id: keyID, after_withdrawal: afterWithdrawal = false } = data;
  const type = EVENT_OF_ACTION[action];
  if (type === undefined || keyID === undefined) return;
  await transaction.insert(keyEvents).values({ type, userID: user, keyID, at, afterWithdrawal });
  const ofUser = eq(keyEvents.userID, user);
  const [surplus] = await transaction
    .select({ id: keyEvents.id })
    .from(keyEvents)
    .where(ofUser)
    .orderBy(desc(keyEvents.id))
    .offset(MAX_PER_USER)
    .limit(1);
  if (surplus !== undefined) await transaction.delete(keyEvents).where(and(ofUser, lte(keyEvents.id, surplus.id)));
}

/** Returns the newest events of a user, newest first. */
export function listKeyEvents(database: Database, userID: UserID, limit = MAX_PER_USER) {
  const ofUser = database.select().from(keyEvents).where(eq(keyEvents.userID, userID));
  return ofUser.orderBy(desc(keyEvents.id)).limit(limit);
}

/** Whether the user's newest event is a removal. @param keyID the removed key. Default: any key */
export async function wasRemoved(transaction: Database, userID: UserID, keyID?: string): Promise<boolean> {
  const [last] = await listKeyEvents(transaction, userID, 1);
  const isRemoval = last?.type === "withdrawn" || last?.type === "discarded";
  return isRemoval && (keyID === undefined || last.keyID === keyID);
}
