import { type SQL, sql } from "../api/database/drizzle.ts";
import { batchingLoader } from "../api/database/batchingLoader.ts";
import { changeRows, RECORDING, toRow } from "../auditLog/recordChange.ts";
import type { Author } from "../api/base/author.ts";
import { byUserID, insertClaims, isOfUnlimitedPartner } from "./claims.ts";
import type { Database } from "../api/database/database.ts";
import { users } from "./tables.ts";
import { creationOf, type NewUser } from "./newUser.ts";

/**
 * Prepares a statement that inserts many users and records the creation of each new one.
 * @param claiming whether the statement also claims the ids, for a region that shares the home database. In this case,
 * it skips users whose id is already claimed, and users of partners with a user limit
 * @returns a function that returns the inserted user, or undefined if the user was not inserted
 */
export function prepareInsert(database: Database, { claiming }: { claiming: boolean }) {
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
