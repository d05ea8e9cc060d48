import { randomBytes } from "node:crypto";
import { and, asc, eq, gt, inArray, sql } from "drizzle-orm";
import type { UserID } from "keyroot/identity";
import { bucketOf } from "../bucket.ts";
import { REGIONS, type Region } from "keyroot/identity";
import type { Database, Databases } from "./database.ts";
import { gather } from "./gather.ts";
import { userIDs, users } from "./tables.ts";

/** A shadow user (specification, "Shadow user"). */
export interface User {
  userID: UserID;
  bizID: string;
  region: Region;
  bucket: string;
  /** 32 hex digits. */
  salt: string;
  /** Milliseconds since 1970. */
  created: number;
}

const SALT_BYTES = 16;

type Claim = Pick<User, "userID" | "bizID" | "region">;

/** Shadow users: whose each id is in the home database, all else in the user's region. */
export class UserStore {
  readonly #databases: Databases;
  readonly #naming: { bucketPrefix: string; stage: string };
  readonly #owner;
  readonly #claim;
  readonly #inRegion;

  constructor(databases: Databases, naming: { bucketPrefix: string; stage: string }) {
    this.#databases = databases;
    this.#naming = naming;
    const { home } = databases;
    const id = sql.placeholder("userID");
    this.#owner = home.select().from(userIDs).where(eq(userIDs.userID, id)).prepare("owner_of_user_id");
    const claim = home
      .insert(userIDs)
      .select(
        sql`select * from unnest(${arrayOf("text", "userID")}, ${arrayOf("text", "bizID")}, ${arrayOf("text", "region")})`,
      )
      .onConflictDoNothing()
      .returning()
      .prepare("claim_user_ids");
    this.#claim = gather(async (asked: readonly Claim[]) => {
      const sorted = asked.toSorted(byUserID);
      const claimed = await claim.execute(columnsOf(sorted, ["userID", "bizID", "region"]));
      const found = new Map(claimed.map((row) => [row.userID, row]));
      // Of two partners who ask for one id at once, the row says whose it became.
      return asked.map(({ userID, bizID, region }) => {
        const row = found.get(userID);
        return row?.bizID === bizID && row.region === region;
      });
    });
    this.#inRegion = everyRegion(databases, (database) => {
      const names = ["userID", "bizID", "region", "bucket", "salt", "created"] as const;
      const columns = names.map((name) => arrayOf(name === "created" ? "bigint" : "text", name));
      const insert = database
        .insert(users)
        .select(sql`select * from unnest(${sql.join(columns, sql`, `)})`)
        .onConflictDoNothing()
        .returning()
        .prepare("insert_users");
      return {
        get: database.select().from(users).where(eq(users.userID, id)).prepare("get_user"),
        insert: gather(async (asked: readonly User[]) => {
          const inserted = await insert.execute(columnsOf(asked.toSorted(byUserID), names));
          const found = new Map(inserted.map((row) => [row.salt, row]));
          return asked.map(({ salt }) => found.get(salt));
        }),
      };
    });
  }

  /**
   * Creates a user, or answers the one that the same partner created with the same region before. The id is claimed
   * first: after a crash in between, the next try of the same partner completes it.
   * @returns undefined where the id is another partner's, or in another region
   */
  async create(bizID: string, userID: UserID, region: Region, created: number): Promise<User | undefined> {
    if (!(await this.#claim({ userID, bizID, region }))) {
      const [owner] = await this.#owner.execute({ userID });
      if (owner?.bizID !== bizID || owner.region !== region) return undefined;
    }
    const { get, insert } = this.#inRegion[region];
    const { bucketPrefix, stage } = this.#naming;
    const bucket = bucketOf(bucketPrefix, stage, region, userID);
    const salt = randomBytes(SALT_BYTES).toString("hex");
    return (await insert({ userID, bizID, region, bucket, salt, created })) ?? (await get.execute({ userID }))[0];
  }

  /** A partner's user; undefined where there is none, or it is another partner's. */
  async get(bizID: string, userID: UserID): Promise<User | undefined> {
    const [owner] = await this.#owner.execute({ userID });
    if (owner?.bizID !== bizID) return undefined;
    return (await this.#inRegion[owner.region].get.execute({ userID }))[0];
  }

  /**
   * A partner's users in the order of their ids, after a certain one.
   * @returns also after which id the next page begins, where there may be one
   */
  async list(bizID: string, after: UserID | undefined, limit: number): Promise<{ users: User[]; next: UserID | null }> {
    const ids = await this.#databases.home
      .select()
      .from(userIDs)
      .where(and(eq(userIDs.bizID, bizID), after === undefined ? undefined : gt(userIDs.userID, after)))
      .orderBy(asc(userIDs.userID))
      .limit(limit);
    const found = await Promise.all(
      REGIONS.map(async (region) => {
        const here = ids.filter((id) => id.region === region).map(({ userID }) => userID);
        return here.length === 0
          ? []
          : this.#databases.regions[region].select().from(users).where(inArray(users.userID, here));
      }),
    );
    const byID = new Map(found.flat().map((user) => [user.userID, user]));
    // An id whose user is not there yet is about to be completed.
    const next = ids.length === limit ? (ids.at(-1)?.userID ?? null) : null;
    return { users: ids.flatMap(({ userID }) => byID.get(userID) ?? []), next };
  }
}

/** The same for each region. */
export function everyRegion<T>({ regions }: Databases, make: (database: Database) => T): Record<Region, T> {
  return Object.fromEntries(REGIONS.map((region) => [region, make(regions[region])])) as Record<Region, T>;
}

/** A placeholder of many values, one for each row. */
function arrayOf(type: "text" | "bigint", name: string) {
  return sql`${sql.placeholder(name)}::${sql.raw(type)}[]`;
}

/** Rows as the columns that `unnest` makes rows of. */
function columnsOf<Row, Name extends keyof Row>(
  rows: readonly Row[],
  names: readonly Name[],
): Record<Name, Row[Name][]> {
  return Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])])) as Record<Name, Row[Name][]>;
}

/** One order for all replicas: two statements that insert the same ids never wait for each other. */
function byUserID(a: { userID: UserID }, b: { userID: UserID }): number {
  return a.userID < b.userID ? -1 : 1;
}
