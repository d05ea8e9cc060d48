import { type SQL, sql } from "../api/database/drizzle.ts";
import type { Region, UserID } from "keyroot/internal/identity";
import { userDeactivated, userErased, userIDTaken, userInOtherRegion } from "./userErrors.ts";
import { changeRows, RECORDING, toRow } from "../auditLog/recordChange.ts";
import type { Author } from "../api/base/author.ts";
import { batchingLoader } from "../api/database/batchingLoader.ts";
import { type Database, type Databases, perRegion } from "../api/database/database.ts";
import {
  byUserID,
  type Claim,
  claimWithinLimit,
  insertClaims,
  isOfUnlimitedPartner,
  prepareClaims,
  prepareGetClaim,
} from "./claims.ts";
import { creationOf, newUser, type NewUser, type User } from "./newUser.ts";
import { users } from "./tables.ts";
import { prepareGetUser } from "./users.ts";

/** Creates single users. Concurrent calls share SQL statements. */
export class UserCreation {
  readonly #databases: Databases;
  readonly #stage: string;
  readonly #getClaim;
  readonly #claim;
  readonly #inRegion;

  constructor(databases: Databases, stage: string) {
    this.#databases = databases;
    this.#stage = stage;
    const { home } = databases;
    this.#getClaim = prepareGetClaim(home);
    const insertClaims = prepareClaims(home);
    this.#claim = batchingLoader(async (claims: readonly Claim[]) => {
      const byID = new Map((await insertClaims(claims)).map((row) => [row.userID, row]));
      // Two claims in a batch may have the same id but different partners. The inserted row shows which partner's claim
      // succeeded.
      return claims.map(({ userID, bizID, region }) => {
        const row = byID.get(userID);
        return row?.bizID === bizID && row.region === region;
      });
    });
    this.#inRegion = perRegion(databases, (database) => {
      return {
        get: prepareGetUser(database),
        insert: prepareInsert(database, { claiming: false }),
        claimAndInsert: database === home ? prepareInsert(database, { claiming: true }) : undefined,
      };
    });
  }

  /**
   * Creates a user, or returns the user that the same partner created earlier in the same region.
   *
   * If the region uses the home database, one statement claims the id and inserts the user. Otherwise, the home
   * database first claims the id. If a crash then prevents the second statement, the partner's next call inserts the
   * user.
   * @throws ServiceError USER_ID_TAKEN if the id belongs to another partner or another region; USER_LIMIT_REACHED,
   *   USER_ERASED, USER_DEACTIVATED
   */
  async create(bizID: string, userID: UserID, region: Region, created: number, author: Author): Promise<User> {
    const wanted = { userID, bizID, region };
    const { get, insert, claimAndInsert } = this.#inRegion[region];
    const user = { ...newUser(wanted, created, this.#stage), author };
    const first = await claimAndInsert?.(user);
    if (first !== undefined) return first;
    if (claimAndInsert !== undefined || !(await this.#claim(wanted))) {
      const [found] = await this.#getClaim.execute({ userID });
      const claim = found ?? (await this.#claimWithinLimit(wanted));
      if (claim.bizID !== bizID) throw userIDTaken();
      if (claim.region !== region) throw userInOtherRegion(claim.region);
    }
    const inserted = await insert(user);
    if (inserted !== undefined) return inserted;
    const [earlier] = await get.execute({ userID });
    if (earlier === undefined) throw userIDTaken();
    if (earlier.erased !== null) throw userErased();
    if (earlier.deactivated !== null) throw userDeactivated();
    return earlier;
  }

  async #claimWithinLimit(wanted: Claim): Promise<Claim> {
    const { claims, refusal } = await claimWithinLimit(this.#databases.home, wanted.bizID, [wanted]);
    const [claim] = claims;
    if (claim === undefined) throw refusal;
    return claim;
  }
}

/**
 * Prepares a statement that inserts many users and records the creation of each new user.
 * @param claiming whether the statement also claims the ids, for a region that shares the home database. It then skips
 *   users whose id is already claimed, and users of partners with a user limit
 * @returns a function that returns the inserted user, or undefined if the user was not inserted
 */
function prepareInsert(database: Database, { claiming }: { claiming: boolean }) {
  const statement = claiming ? prepareClaimAndInsert(database) : prepareInsertOfClaimed(database);
  return batchingLoader(async (items: readonly (NewUser & { author: Author })[]) => {
    const rows = items.toSorted(byUserID).map(({ author, ...user }) => ({
      ...toRow(author, creationOf(user)),
      ...{ region: user.region, bucket: user.bucket, salt: user.salt },
    }));
    // Inserted rows are found by salt, because two rows can have the same id.
    const inserted = await statement.execute({ rows: JSON.stringify(rows) });
    const bySalt = new Map(inserted.map((row) => [row.salt, row]));
    return items.map(({ author, ...user }) => {
      const row = bySalt.get(user.salt);
      if (row !== undefined) author.onChange?.(creationOf(user));
      return row;
    });
  });
}

function prepareInsertOfClaimed(database: Database) {
  const { item, inserted, change, entries, outbox } = stepsOf(database, sql`item`);
  return database.with(item, inserted, change, entries, outbox).select().from(inserted).prepare("insert_users");
}

function prepareClaimAndInsert(database: Database) {
  const rows = sql`select user_id, biz_id, region from item where ${isOfUnlimitedPartner("item")}`;
  const claimed = database.$with("claimed").as(insertClaims(database, rows));
  const claimedItems = sql`item join claimed using (user_id, biz_id, region)`;
  const { item, inserted, change, entries, outbox } = stepsOf(database, claimedItems);
  const steps = [item, claimed, inserted, change, entries, outbox];
  return database
    .with(...steps)
    .select()
    .from(inserted)
    .prepare("claim_and_insert_users");
}

/** The common table expressions that insert users. @param source the rows of `item` to insert */
function stepsOf(database: Database, source: SQL) {
  const further = ", region text, bucket text, salt text";
  const values = sql`select user_id, biz_id, region, bucket, salt, at, null::bigint, null::bigint from ${source}`;
  return {
    item: database.$with("item", {}).as(sql`select * from ${changeRows(sql`${sql.placeholder("rows")}`, further)}`),
    inserted: database.$with("inserted").as(database.insert(users).select(values).onConflictDoNothing().returning()),
    change: database.$with("change", {}).as(sql`select item.* from item join inserted using (salt)`),
    entries: database.$with("entries", {}).as(RECORDING.entries),
    outbox: database.$with("outbox", {}).as(RECORDING.events),
  };
}
