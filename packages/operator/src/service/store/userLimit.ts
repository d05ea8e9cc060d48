import { eq, sum } from "drizzle-orm";
import { ServiceError } from "keyroot/errors";
import type { Database } from "./database.ts";
import { partners, userCounts, userIDs } from "./tables.ts";
import type { Claim } from "./users.ts";

/**
 * Claims a user id for a partner with a limit. A lock on the partner makes concurrent claims count one after the other.
 * @returns the claim of this id, which may be another partner's
 * @throws ServiceError USER_LIMIT_REACHED
 */
export function claimWithinLimit(home: Database, claim: Claim): Promise<Claim | undefined> {
  const { bizID, userID } = claim;
  return home.transaction(async (transaction) => {
    const owner = transaction.select({ limit: partners.userLimit }).from(partners).where(eq(partners.bizID, bizID));
    const [partner] = await owner.for("no key update");
    const limit = partner?.limit ?? Infinity;
    // A concurrent request for the same id may have claimed it before the lock.
    const find = () => transaction.select().from(userIDs).where(eq(userIDs.userID, userID));
    const [earlier] = await find();
    if (earlier !== undefined) return earlier;
    const [counted] = await transaction
      .select({ users: sum(userCounts.users).mapWith(Number) })
      .from(userCounts)
      .where(eq(userCounts.bizID, bizID));
    const users = counted?.users ?? 0;
    if (users >= limit) throw limitReached(users, limit);
    await transaction.insert(userIDs).values(claim).onConflictDoNothing();
    return (await find())[0];
  });
}

function limitReached(users: number, limit: number): ServiceError {
  const message = `You have ${users} users, and may have ${limit}: request a higher limit from the operator of the service.`;
  return new ServiceError(409, "USER_LIMIT_REACHED", message);
}
