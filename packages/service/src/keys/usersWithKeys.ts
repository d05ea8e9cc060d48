import { and, asc, desc, eq, gt, isNotNull, isNull, lte, max, not, type SQL, sql } from "../api/database/drizzle.ts";
import type { Region, UserID } from "keyroot/internal/identity";
import { isAnyOf } from "../api/database/columns.ts";
import { type Database, type Databases, readAll, regionalDatabases } from "../api/database/database.ts";
import { userTokens } from "../tokens/tables.ts";
import { byUserID, type Claim } from "../users/claims.ts";
import { users } from "../users/tables.ts";
import { beginsWith, listUserIDs, readFromRegions } from "../users/users.ts";
import { holdEndOf, isOfDeactivated, isUndecided } from "./holdPeriod.ts";
import { batches, isPending, publicKeys } from "./tables.ts";

/** The states of users' keys in a list, which `userOperations.ts` explains. */
export const LISTED_STATES = [
  "unregistered",
  "waiting",
  "undecided",
  "ready",
  "blocked",
  "submitted",
  "published",
] as const;
export type ListedState = (typeof LISTED_STATES)[number];

/** A user, the state of the user's key, and the last use of the user's tokens. */
export interface UserWithKey {
  userID: UserID;
  region: Region;
  created: number;
  deactivated: number | null;
  state: ListedState;
  /** The end of the hold period of a waiting key. Null in other states. */
  holdEndsAt: number | null;
  /** The hour in which a token of the user was last used. Null if no token was used. */
  lastUsed: number | null;
}

/** Filters for listed users, and the position and size of the page. */
export interface UserFilter {
  state?: ListedState | undefined;
  region?: Region | undefined;
  /** The beginning of the users' ids. */
  prefix?: string | undefined;
  after?: UserID | undefined;
  limit: number;
}

/** The part of the ids that a page may contain. */
type IDRange = Pick<UserFilter, "after" | "prefix">;

type ID = Pick<Claim, "userID" | "region">;

/** Number of ids that each query of a filtered list reads. All queries together read at most 81,000 ids. */
const IDS_PER_QUERY = [1_000, ...Array<number>(8).fill(10_000)];

/** The roots of batches that are not yet on the chain. */
const openRoots = sql`select ${batches.root} from ${batches} where ${batches.blockNumber} is null`;

export class UsersWithKeys {
  readonly #databases: Databases;
  readonly #holdOnConflict: boolean;

  /** @param holdOnConflict whether a key that conflicts with another key waits for the partner's decision */
  constructor(databases: Databases, holdOnConflict: boolean) {
    this.#databases = databases;
    this.#holdOnConflict = holdOnConflict;
  }

  /**
   * Lists one page of a partner's users, newest first. With `state` or `prefix`, users have the order of their ids, and
   * each call reads a limited number of ids. Such a page may be short or even empty although more users follow.
   * @returns `next` is null if no page follows
   */
  async list(bizID: string, filter: UserFilter, now: number) {
    const { state, region, prefix, after, limit } = filter;
    if (state === undefined && prefix === undefined) return this.#listNewest(bizID, filter, now);
    const found: UserWithKey[] = [];
    let last = after;
    // Read one more item than the page needs, to find out whether another page follows.
    const most = limit + 1;
    for (const size of state === undefined && region === undefined ? [most] : IDS_PER_QUERY) {
      const ids = await this.#readIDs(bizID, state, { after: last, prefix }, size, now);
      const here = ids.filter((id) => (region ?? id.region) === id.region);
      const candidates = await this.#withState(here, state);
      // Read more ids at a time if most candidates are erased users.
      for (let start = 0, count = most; start < candidates.length && found.length < most; start += count, count *= 2) {
        const users = await this.#describe(candidates.slice(start, start + count), now);
        found.push(...users.filter((user) => (state ?? user.state) === user.state));
      }
      if (found.length >= most) {
        const users = found.slice(0, limit);
        return { users, next: users.at(-1)?.userID ?? null };
      }
      last = ids.at(-1)?.userID ?? last;
      if (ids.length < size) return { users: found, next: null };
    }
    return { users: found, next: last ?? null };
  }

  async #listNewest(bizID: string, { region, after, limit }: UserFilter, now: number) {
    const { userID, created } = users;
    const isListed = and(
      eq(users.bizID, bizID),
      isNull(users.erased),
      region === undefined ? undefined : eq(users.region, region),
      after === undefined
        ? undefined
        : sql`(${created}, ${userID}) < (${await this.#createdOf(after)}::bigint, ${after})`,
    );
    const found = await readAll(regionalDatabases(this.#databases), (database) =>
      database
        .select({ userID, region: users.region, created })
        .from(users)
        .where(isListed)
        .orderBy(desc(created), desc(userID))
        // Read one more user than the page needs, to find out whether another page follows.
        .limit(limit + 1),
    );
    found.sort((a, b) => b.created - a.created || byUserID(b, a));
    const shown = found.slice(0, limit);
    const described = new Map((await this.#describe(shown, now)).map((user) => [user.userID, user]));
    return {
      users: shown.flatMap((id) => described.get(id.userID) ?? []),
      next: found.length > limit ? (shown.at(-1)?.userID ?? null) : null,
    };
  }

  /**
   * Returns the time at which a user was created. For an unknown user it returns 0, and no user was created before that
   * time.
   */
  async #createdOf(id: UserID): Promise<number> {
    const [found] = await readAll(regionalDatabases(this.#databases), (database) =>
      database.select({ created: users.created }).from(users).where(eq(users.userID, id)),
    );
    return found?.created ?? 0;
  }

  /**
   * Filters ids by state, with one query per region. `unregistered` keeps users without a key, and `published` keeps
   * users with a key in a batch.
   */
  async #withState(ids: readonly ID[], state: ListedState | undefined): Promise<readonly ID[]> {
    if (state !== "unregistered" && state !== "published") return ids;
    const withKey = await readFromRegions(this.#databases, ids, (database, userIDs) =>
      database
        .select({ userID: publicKeys.userID })
        .from(publicKeys)
        .where(
          and(isAnyOf(publicKeys.userID, userIDs), state === "published" ? isNotNull(publicKeys.root) : undefined),
        ),
    );
    const known = new Set(withKey.map(({ userID }) => userID));
    return ids.filter(({ userID }) => known.has(userID) === (state === "published"));
  }

  /** Reads a partner's next ids from the index with the fewest unneeded ids. */
  #readIDs(bizID: string, state: ListedState | undefined, range: IDRange, limit: number, now: number) {
    if (state === undefined || state === "unregistered" || state === "published")
      return listUserIDs(this.#databases.home, bizID, range, limit);
    const { root, submitted, holdEndsAt } = publicKeys;
    const undecided = isUndecided(this.#holdOnConflict);
    const candidates = {
      waiting: [and(isPending, gt(holdEndsAt, now), not(undecided), not(isOfDeactivated))],
      undecided: [and(isPending, undecided, not(isOfDeactivated))],
      ready: [and(isPending, lte(holdEndsAt, now), not(undecided), not(isOfDeactivated))],
      blocked: [and(isPending, isOfDeactivated)],
      submitted: [and(isNull(root), isNotNull(submitted)), sql`${root} = any(array(${openRoots}))`],
    }[state];
    return this.#readKeyIDs(bizID, candidates, range, limit);
  }

  /**
   * Reads ids with one query per condition. If a single query combined the conditions with `or`, PostgreSQL would read
   * all keys of the partner.
   */
  async #readKeyIDs(bizID: string, candidates: (SQL | undefined)[], { after, prefix = "" }: IDRange, limit: number) {
    const isNext = and(
      after === undefined ? undefined : gt(publicKeys.userID, after),
      beginsWith(publicKeys.userID, prefix),
    );
    const found = await Promise.all(
      candidates.map((isCandidate) =>
        readAll(regionalDatabases(this.#databases), (database) =>
          database
            .select({ userID: publicKeys.userID, region: publicKeys.region })
            .from(publicKeys)
            .where(and(eq(publicKeys.bizID, bizID), isNull(publicKeys.account), isCandidate, isNext))
            .orderBy(asc(publicKeys.userID))
            .limit(limit),
        ),
      ),
    );
    return found.flat().sort(byUserID).slice(0, limit);
  }

  /** Returns the users with these ids. Ids of erased users and of interrupted creations are omitted. */
  async #describe(ids: readonly ID[], now: number): Promise<UserWithKey[]> {
    const describe = (database: Database, userIDs: UserID[]) => this.#describeIn(database, userIDs, now);
    return (await readFromRegions(this.#databases, ids, describe)).sort(byUserID);
  }

  async #describeIn(database: Database, ids: UserID[], now: number): Promise<UserWithKey[]> {
    const [rows, uses] = await Promise.all([
      database
        .select({ user: users, key: publicKeys, block: batches.blockNumber })
        .from(users)
        .leftJoin(publicKeys, eq(publicKeys.userID, users.userID))
        .leftJoin(batches, eq(batches.root, publicKeys.root))
        .where(and(isAnyOf(users.userID, ids), isNull(users.erased))),
      database
        .select({ userID: userTokens.userID, lastUsed: max(userTokens.lastUsed) })
        .from(userTokens)
        .where(isAnyOf(userTokens.userID, ids))
        .groupBy(userTokens.userID),
    ]);
    const lastUses = new Map(uses.map(({ userID, lastUsed }) => [userID, lastUsed]));
    return rows.map(({ user: { userID, region, created, deactivated }, key, block }) => {
      const state = key === null ? "unregistered" : this.#stateOf(key, deactivated, block, now);
      const holdEndsAt = state === "waiting" ? (key?.holdEndsAt ?? null) : null;
      const lastUsed = lastUses.get(userID) ?? null;
      return { userID, region, created, deactivated, state, holdEndsAt, lastUsed };
    });
  }

  #stateOf(
    key: typeof publicKeys.$inferSelect,
    deactivated: number | null,
    block: number | null,
    now: number,
  ): ListedState {
    if (key.root !== null) return block === null ? "submitted" : "published";
    if (key.submitted !== null) return "submitted";
    if (deactivated !== null) return "blocked";
    const holdEndsAt = holdEndOf(key, this.#holdOnConflict);
    if (holdEndsAt === null) return "undecided";
    return holdEndsAt > now ? "waiting" : "ready";
  }
}
