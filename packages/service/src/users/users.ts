import { and, asc, eq, gt, inArray, isNull, sql } from "../database/drizzle.ts";
import { REGIONS, type Region, type UserID } from "keyroot/identity";
import { type Author, recordChange } from "../auditLog/recordChange.ts";
import { type Claim, prepareGetClaim } from "./claims.ts";
import { type Database, type Databases, perRegion } from "../database/database.ts";
import { type ErasedUser, eraseUser } from "./eraseUser.ts";
import type { User } from "./newUser.ts";
import { userIDs, users } from "./tables.ts";

/** Reads and changes shadow users. The home database stores who owns each id. The user's region stores everything else. */
export class UserStore {
  readonly #databases: Databases;
  readonly #getClaim;
  readonly #getUser;

  constructor(databases: Databases) {
    this.#databases = databases;
    this.#getClaim = prepareGetClaim(databases.home);
    this.#getUser = perRegion(databases, prepareGetUser);
  }

  /** @returns undefined if the partner has no such user */
  async get(bizID: string, userID: UserID): Promise<User | undefined> {
    const [claim] = await this.#getClaim.execute({ userID });
    return claim?.bizID === bizID ? this.getIn(claim.region, userID) : undefined;
  }

  /** Reads a user in a known region without querying the home database. @returns undefined if there is no such user */
  async getIn(region: Region, userID: UserID): Promise<User | undefined> {
    const [user] = await this.#getUser[region].execute({ userID });
    return user?.erased === null ? user : undefined;
  }

  /** Deactivates a user. The service then refuses all the user's tokens. @returns the time of deactivation, in milliseconds since 1970 */
  async deactivate({ region, userID, bizID }: Claim, now: number, author: Author): Promise<number> {
    await this.#databases.regions[region].transaction(async (transaction) => {
      const isActive = and(eq(users.userID, userID), isNull(users.deactivated));
      const changed = await transaction.update(users).set({ deactivated: now }).where(isActive).returning();
      if (changed.length > 0)
        await recordChange(transaction, author, { action: "user.deactivated", at: now, partner: bizID, user: userID });
    });
    const [user] = await this.#getUser[region].execute({ userID });
    return user?.deactivated ?? now;
  }

  /** Erases a user. @returns undefined if the partner has no such user */
  async erase(bizID: string, userID: UserID, now: number, author: Author): Promise<ErasedUser | undefined> {
    const [claim] = await this.#getClaim.execute({ userID });
    if (claim?.bizID !== bizID) return undefined;
    return eraseUser(this.#databases.regions[claim.region], userID, now, author);
  }

  /**
   * Lists one page of a partner's users in the order of their ids.
   * @param after the last id of the previous page; undefined for the first page
   * @returns `next` is the last id of the page, or null if no page follows
   */
  async list(bizID: string, after: UserID | undefined, limit: number): Promise<{ users: User[]; next: UserID | null }> {
    const ids = await this.#databases.home
      .select()
      .from(userIDs)
      .where(and(eq(userIDs.bizID, bizID), after === undefined ? undefined : gt(userIDs.userID, after)))
      .orderBy(asc(userIDs.userID))
      .limit(limit);
    const rows = await Promise.all(
      REGIONS.map(async (region) => {
        const here = ids.filter((id) => id.region === region).map(({ userID }) => userID);
        return here.length === 0
          ? []
          : this.#databases.regions[region]
              .select()
              .from(users)
              .where(and(inArray(users.userID, here), isNull(users.erased)));
      }),
    );
    const byID = new Map(rows.flat().map((user) => [user.userID, user]));
    const next = ids.length === limit ? (ids.at(-1)?.userID ?? null) : null;
    // A claimed id without a user is omitted: its creation is in progress or was interrupted, or the user is erased.
    return { users: ids.flatMap(({ userID }) => byID.get(userID) ?? []), next };
  }
}

/** Prepares the query for the user with one id, erased or not. Its placeholder is `userID`. */
export function prepareGetUser(database: Database) {
  return database
    .select()
    .from(users)
    .where(eq(users.userID, sql.placeholder("userID")))
    .prepare("get_user");
}
