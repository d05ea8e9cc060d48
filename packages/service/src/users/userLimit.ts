import { eq } from "../api/database/drizzle.ts";
import { plural } from "@keyroot/operator/shared";
import { ServiceError } from "../api/base/errors.ts";
import { addClaims, type Claim, findClaims } from "./claims.ts";
import type { Database } from "../api/database/database.ts";
import { countUsers } from "../partners/partners.ts";
import { partners } from "../partners/tables.ts";

/**
 * Claims user ids for a partner with a user limit. If the list exceeds the limit, its last ids are not claimed. The
 * partner is locked, so that concurrent claims are counted one after the other.
 * @param claims the wanted claims, for different ids without a claim
 * @returns the claims of the ids, and the error USER_LIMIT_REACHED for ids without a claim. A returned claim may belong
 *   to another partner
 */
export function claimWithinLimit(
  home: Database,
  bizID: string,
  claims: readonly Claim[],
): Promise<{ claims: Claim[]; refusal: ServiceError }> {
  return home.transaction(async (transaction) => {
    const owner = transaction.select({ limit: partners.userLimit }).from(partners).where(eq(partners.bizID, bizID));
    const [partner] = await owner.for("no key update");
    const limit = partner?.limit ?? Infinity;
    const ids = claims.map(({ userID }) => userID);
    // Concurrent requests may have claimed the same ids before the lock.
    const claimed = new Set((await findClaims(transaction, ids)).map(({ userID }) => userID));
    const users = await countUsers(transaction, bizID);
    const missing = claims.filter(({ userID }) => !claimed.has(userID));
    const fitting = missing.slice(0, Math.max(0, limit - users));
    if (fitting.length > 0) await addClaims(transaction, fitting);
    return { claims: await findClaims(transaction, ids), refusal: limitReached(users + fitting.length, limit) };
  });
}

function limitReached(users: number, limit: number): ServiceError {
  const message = `You have ${plural(users, "user")}, and your limit is ${limit}. Request a higher limit from the service's operator.`;
  return new ServiceError(409, "USER_LIMIT_REACHED", message);
}
