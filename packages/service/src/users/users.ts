import { and, asc, eq, gt, gte, isNull, lte, type PgColumn, type SQL, sql } from "../api/database/drizzle.ts";
import { REGIONS, type Region, type UserID } from "keyroot/internal/identity";
import { recordChange } from "../auditLog/recordChange.ts";
import type { Author } from "../api/base/author.ts";
import { type Claim, prepareGetClaim } from "./claims.ts";
import { isAnyOf } from "../api/database/columns.ts";
import { type Database, type Databases, perRegion } from "../api/database/database.ts";
import { userDeactivated, userErased } from "./userErrors.ts";
import type { User } from "./newUser.ts";
import { userIDs, users } from "./tables.ts";

const ID_LENGTH = 32;
/** Maximum number of ids that one query of a list reads. */
const MOST_IDS = 10_000;

/**
 * Reads and changes shadow users. The home database stores the owner of each user id, and the user's region stores
 * everything else.
 */
export class UserStore {
  readonly #databases: Databases;
  readonly #getClaim;
  readonly #getUser;

  constructor(databases: Databases) {
    this.#databases = databases;
    this.#getClaim = prepareGetClaim(databases.home);
    this.#getUser = perRegion(databases, prepareGetUser);
  }

  /**
   * @returns undefined if the partner has no such user
   * @throws ServiceError USER_ERASED if the partner has erased the user
   */
  async get(bizID: string, userID: UserID): Promise<User | undefined> {
    const [claim] = await this.#getClaim.execute({ userID });
    return claim?.bizID === bizID ? this.getIn(claim.region, userID) : undefined;
  }

  /**
   * Reads a user in a known region, without querying the home database.
   * @returns undefined if the user does not exist
   * @throws ServiceError USER_ERASED
   */
  async getIn(region: Region, userID: UserID): Promise<User | undefined> {
    const [user] = await this.#getUser[region].execute({ userID });
    if (typeof user?.erased === "number") throw userErased();
    return user;
  }

  /**
   * Deactivates a user, whose tokens are then all rejected.
   * @returns the time of deactivation
   */
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

  /**
   * Lists one page of a partner's users in the order of their ids. Only the last page is shorter than the limit.
   * @param after the last id of the previous page; undefined for the first page
   * @returns `next` is the last id of the page, or null if no page follows
   */
  async list(bizID: string, after: UserID | undefined, limit: number): Promise<{ users: User[]; next: UserID | null }> {
    const listed: User[] = [];
    let last = after;
    // Read one more user than the page needs, to find out whether another page follows. Ids may have no user, because
    // the creation is in progress or was interrupted, or the user is erased. Then read more ids at a time.
    for (let size = limit + 1; ; size = Math.min(2 * size, MOST_IDS)) {
      const ids = await listUserIDs(this.#databases.home, bizID, { after: last }, size);
      const rows = await readFromRegions(this.#databases, ids, (database, here) =>
        database
          .select()
          .from(users)
          .where(and(isAnyOf(users.userID, here), isNull(users.erased))),
      );
      const byID = new Map(rows.map((user) => [user.userID, user]));
      listed.push(...ids.flatMap(({ userID }) => byID.get(userID) ?? []));
      const page = listed.slice(0, limit);
      if (listed.length > limit) return { users: page, next: page.at(-1)?.userID ?? null };
      if (ids.length < size) return { users: page, next: null };
      last = ids.at(-1)?.userID;
    }
  }
}

/** Prepares the query for a user by id, including erased users. The id is the placeholder `userID`. */
export function prepareGetUser(database: Database) {
  return database
    .select()
    .from(users)
    .where(eq(users.userID, sql.placeholder("userID")))
    .prepare("get_user");
}

/** Lists a partner's next user ids that begin with `prefix`, in ascending order, with the users' regions. */
export function listUserIDs(
  home: Database,
  bizID: string,
  { after, prefix = "" }: { after?: UserID | undefined; prefix?: string | undefined },
  limit: number,
): Promise<Pick<Claim, "userID" | "region">[]> {
  return home
    .select({ userID: userIDs.userID, region: userIDs.region })
    .from(userIDs)
    .where(
      and(
        eq(userIDs.bizID, bizID),
        after === undefined ? undefined : gt(userIDs.userID, after),
        beginsWith(userIDs.userID, prefix),
      ),
    )
    .orderBy(asc(userIDs.userID))
    .limit(limit);
}

/** The condition that a user id begins with `prefix`. An index finds these ids. */
export function beginsWith(column: PgColumn, prefix: string): SQL | undefined {
  // "z" is the last character of zBase32 in every collation.
  return prefix === "" ? undefined : and(gte(column, prefix), lte(column, prefix.padEnd(ID_LENGTH, "z")));
}

/** Reads the data of each user from their region. */
export async function readFromRegions<Row>(
  { regions }: Databases,
  ids: readonly Pick<Claim, "userID" | "region">[],
  read: (database: Database, userIDs: UserID[]) => PromiseLike<Row[]>,
): Promise<Row[]> {
  const rows = REGIONS.map(async (region) => {
    const here = ids.filter((id) => id.region === region).map(({ userID }) => userID);
    return here.length === 0 ? [] : await read(regions[region], here);
  });
  return (await Promise.all(rows)).flat();
}

/**
 * Locks an active user until the transaction ends, so that the user cannot be deactivated or erased.
 * @throws ServiceError USER_DEACTIVATED
 */
export async function lockActiveUser(transaction: Database, userID: UserID): Promise<void> {
  const isActive = and(eq(users.userID, userID), isNull(users.deactivated));
  const found = await transaction.select({ userID: users.userID }).from(users).where(isActive).for("share");
  if (found.length === 0) throw userDeactivated();
}
