import { and, asc, eq, gt, inArray, isNull, sql } from "drizzle-orm";
import { REGIONS, type Region, type UserID } from "keyroot/identity";
import { ServiceError } from "../errors.ts";
import { batchingLoader } from "../database/batchingLoader.ts";
import { type Author, recordChange } from "../auditLog/recordChange.ts";
import { type Claim, prepareClaims } from "./claims.ts";
import { type Databases, perRegion } from "../database/database.ts";
import { type ErasedUser, eraseUser, userErased } from "./eraseUser.ts";
import { prepareInsert } from "./insertUsers.ts";
import { newUser, type User, type UserNaming } from "./newUser.ts";
import { userIDs, users } from "./tables.ts";
import { claimWithinLimit } from "./userLimit.ts";

/** Stores shadow users. The home database stores who owns each id. The user's region stores everything else. */
export class UserStore {
  readonly #databases: Databases;
  readonly #naming: UserNaming;
  readonly #getClaim;
  readonly #claim;
  readonly #inRegion;

  constructor(databases: Databases, naming: UserNaming) {
    this.#databases = databases;
    this.#naming = naming;
    const { home } = databases;
    const id = sql.placeholder("userID");
    this.#getClaim = home.select().from(userIDs).where(eq(userIDs.userID, id)).prepare("get_claim");
    const insertClaims = prepareClaims(home);
    this.#claim = batchingLoader(async (claims: readonly Claim[]) => {
      const byID = new Map((await insertClaims(claims)).map((row) => [row.userID, row]));
      // A batch may contain the same id for two partners. The returned row shows whose claim was inserted.
      return claims.map(({ userID, bizID, region }) => {
        const row = byID.get(userID);
        return row?.bizID === bizID && row.region === region;
      });
    });
    this.#inRegion = perRegion(databases, (database) => {
      return {
        get: database.select().from(users).where(eq(users.userID, id)).prepare("get_user"),
        insert: prepareInsert(database, { claiming: false }),
        claimAndInsert: database === home ? prepareInsert(database, { claiming: true }) : undefined,
      };
    });
  }

  /**
   * Creates a user, or returns the user that the same partner created earlier in the same region. In the home database,
   * one statement does both. In another database, the id is claimed first. After a crash between the two inserts, the
   * partner's next call completes the user.
   * @param created milliseconds since 1970
   * @returns undefined if the id belongs to another partner or another region
   * @throws ServiceError USER_LIMIT_REACHED, USER_ERASED
   */
  async create(
    bizID: string,
    userID: UserID,
    region: Region,
    created: number,
    author: Author,
  ): Promise<User | undefined> {
    const wanted = { userID, bizID, region };
    const { get, insert, claimAndInsert } = this.#inRegion[region];
    const user = { ...newUser(wanted, created, this.#naming), author };
    const first = await claimAndInsert?.(user);
    if (first !== undefined) return first;
    if (claimAndInsert !== undefined || !(await this.#claim(wanted))) {
      const [found] = await this.#getClaim.execute({ userID });
      const claim = found ?? (await this.#claimWithinLimit(wanted));
      if (claim.bizID !== bizID || claim.region !== region) return undefined;
    }
    const inserted = await insert(user);
    if (inserted !== undefined) return inserted;
    const [earlier] = await get.execute({ userID });
    if (earlier !== undefined && earlier.erased !== null) throw userErased();
    return earlier;
  }

  /** @throws ServiceError USER_LIMIT_REACHED */
  async #claimWithinLimit(wanted: Claim): Promise<Claim> {
    const { claims, refusal } = await claimWithinLimit(this.#databases.home, wanted.bizID, [wanted]);
    const [claim] = claims;
    if (claim === undefined) throw refusal;
    return claim;
  }

  /** @returns undefined if the partner has no such user */
  async get(bizID: string, userID: UserID): Promise<User | undefined> {
    const [claim] = await this.#getClaim.execute({ userID });
    return claim?.bizID === bizID ? this.getIn(claim.region, userID) : undefined;
  }

  /** Reads a user in a known region without querying the home database. @returns undefined if there is no such user */
  async getIn(region: Region, userID: UserID): Promise<User | undefined> {
    const [user] = await this.#inRegion[region].get.execute({ userID });
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
    const [user] = await this.#inRegion[region].get.execute({ userID });
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

/** The error for an id of another partner or region. The message does not show which of the two. */
export function userIDTaken(): ServiceError {
  return new ServiceError(409, "USER_ID_TAKEN", "This user id is already in use: choose another one.");
}
