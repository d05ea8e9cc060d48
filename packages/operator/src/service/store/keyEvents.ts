import { and, desc, eq, lte } from "drizzle-orm";
import type { UserID } from "keyroot/identity";
import type { Database } from "./database.ts";
import { keyEvents } from "./tables.ts";

/** Something that happened to a user's key, of which the partner should know. */
export interface KeyEvent {
  userID: UserID;
  /**
   * `registered`: the user has this key now. `offered`: this key was refused, because the user has another one. `withdrawn` and
   * `discarded`: the user, or the partner, removed this key. `approved`: the partner decided for this key.
   */
  type: "registered" | "offered" | "withdrawn" | "discarded" | "approved";
  keyID: string;
  /** Milliseconds since 1970. */
  at: number;
  /** Of `registered`: whether an earlier key of the user was withdrawn or discarded. */
  afterWithdrawal: boolean;
}

/** Older events of a user are deleted. */
const MAX_PER_USER = 100;

/**
 * Records an event in the transaction in which it happens, so that both are stored or neither. Every event passes here:
 * whatever reports events to partners begins here.
 * @param transaction of the user's region
 */
export async function recordKeyEvent(transaction: Database, event: KeyEvent): Promise<void> {
  await transaction.insert(keyEvents).values(event);
  const ofUser = eq(keyEvents.userID, event.userID);
  const [surplus] = await transaction
    .select({ id: keyEvents.id })
    .from(keyEvents)
    .where(ofUser)
    .orderBy(desc(keyEvents.id))
    .offset(MAX_PER_USER)
    .limit(1);
  if (surplus !== undefined) await transaction.delete(keyEvents).where(and(ofUser, lte(keyEvents.id, surplus.id)));
}

/** The newest events of a user, the newest first. */
export async function listKeyEvents(database: Database, userID: UserID, limit = MAX_PER_USER): Promise<KeyEvent[]> {
  return database
    .select({
      userID: keyEvents.userID,
      type: keyEvents.type,
      keyID: keyEvents.keyID,
      at: keyEvents.at,
      afterWithdrawal: keyEvents.afterWithdrawal,
    })
    .from(keyEvents)
    .where(eq(keyEvents.userID, userID))
    .orderBy(desc(keyEvents.id))
    .limit(limit);
}
