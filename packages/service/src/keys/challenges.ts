import { timingSafeEqual } from "node:crypto";
import { and, desc, eq, inArray, lte } from "../api/database/drizzle.ts";
import { base64ToBytes, sha256Hex } from "keyroot/internal/bytes";
import type { UserID } from "keyroot/internal/identity";
import { type Database, type Databases, regionalDatabases } from "../api/database/database.ts";
import { possessionChallenges } from "./tables.ts";

/** A challenge that the user has not answered yet. */
type StoredChallenge = typeof possessionChallenges.$inferSelect;

/**
 * A challenge that is not stored yet. `response` is its only valid response, in 32 bytes, of which the database stores
 * only the hash. If the challenge must be answered with a signature, `response` is undefined.
 */
type NewChallenge = Omit<StoredChallenge, "responseHash"> & { response: Uint8Array | undefined };

/** Maximum number of unanswered challenges per user. A new one replaces the oldest. */
const MAX_PER_USER = 3;

/** Adds a challenge in the user's region. If the user then has more than `MAX_PER_USER`, removes the oldest. */
export async function addChallenge(database: Database, { response, ...unhashed }: NewChallenge): Promise<void> {
  const { userID, nonce } = possessionChallenges;
  const ofUser = eq(userID, unhashed.userID);
  const challenge = { ...unhashed, responseHash: response === undefined ? null : sha256Hex(response) };
  await database.transaction(async (transaction) => {
    await transaction.insert(possessionChallenges).values(challenge);
    const surplus = transaction
      .select({ nonce })
      .from(possessionChallenges)
      .where(ofUser)
      .orderBy(desc(possessionChallenges.expires), desc(nonce))
      .offset(MAX_PER_USER);
    await transaction.delete(possessionChallenges).where(and(ofUser, inArray(nonce, surplus)));
  });
}

/** @returns undefined if the user has no such challenge */
export async function findChallenge(database: Database, userID: UserID, nonce: string) {
  const [found] = await database.select().from(possessionChallenges).where(isOfUser(userID, nonce));
  return found;
}

/**
 * Removes a user's challenge when it is answered, because each challenge can be answered only once.
 * @param transaction a transaction in the user's region. Commit it even if the response was wrong
 * @returns whether the user had this challenge
 */
export async function takeChallenge(transaction: Database, userID: UserID, nonce: string): Promise<boolean> {
  const taken = await transaction.delete(possessionChallenges).where(isOfUser(userID, nonce)).returning();
  return taken.length > 0;
}

export async function dropExpiredChallenges(databases: Databases, now: number): Promise<void> {
  for (const database of regionalDatabases(databases))
    await database.delete(possessionChallenges).where(lte(possessionChallenges.expires, now));
}

function isOfUser(userID: UserID, nonce: string) {
  return and(eq(possessionChallenges.nonce, nonce), eq(possessionChallenges.userID, userID));
}

/** Compares the hash of a response with a challenge's hash in constant time. @param response base64 */
export function hasResponse(responseHash: string, response: string): boolean {
  return timingSafeEqual(Buffer.from(sha256Hex(base64ToBytes(response))), Buffer.from(responseHash));
}
