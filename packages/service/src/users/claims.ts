import { type SQL, sql } from "drizzle-orm";
import type { Region, UserID } from "keyroot/identity";
import { columnOf } from "../database/columns.ts";
import type { Database } from "../database/database.ts";
import { userIDs } from "./tables.ts";

/** The partner and the region of a user id. */
export interface Claim {
  userID: UserID;
  bizID: string;
  region: Region;
}

/** Prepares the insert of claims of partners without a limit. It returns the claims that it inserted. */
export function prepareClaims(home: Database): (claims: readonly Claim[]) => Promise<Claim[]> {
  // With this form, PostgreSQL does not plan the statement again when the length of the arrays changes.
  const arrayOf = (name: keyof Claim) => sql`(select ${sql.placeholder(name)}::text[])`;
  const columns = sql`${arrayOf("userID")}, ${arrayOf("bizID")}, ${arrayOf("region")}`;
  const rows = sql`${claimsFrom(columns)} where ${isOfUnlimitedPartner("claim")}`;
  const statement = insertClaims(home, rows).prepare("insert_claims");
  return (claims) => {
    const sorted = claims.toSorted(byUserID);
    return statement.execute({
      userID: sorted.map(({ userID }) => userID),
      bizID: sorted.map(({ bizID }) => bizID),
      region: sorted.map(({ region }) => region),
    });
  };
}

/** Inserts claims whose ids are free. */
export async function addClaims(home: Database, claims: readonly Claim[]): Promise<void> {
  const sorted = claims.toSorted(byUserID);
  const columns = [
    columnOf("text", sorted, ({ userID }) => userID),
    columnOf("text", sorted, ({ bizID }) => bizID),
    columnOf("text", sorted, ({ region }) => region),
  ];
  await insertClaims(home, claimsFrom(sql.join(columns, sql`, `)));
}

/** The claims of these ids. Ids without a claim are left out. */
export function findClaims(home: Database, ids: readonly UserID[]): Promise<Claim[]> {
  return home
    .select()
    .from(userIDs)
    .where(sql`${userIDs.userID} = any(${columnOf("text", ids, (id) => id)})`);
}

/** The insert of claims whose ids are free. It returns the inserted claims. @param rows a query of the columns of a claim */
export function insertClaims(home: Database, rows: SQL) {
  return home.insert(userIDs).select(rows).onConflictDoNothing().returning();
}

/**
 * Whether a row is of a partner without a limit of users. Claims of partners with a limit are counted one after the other, by
 * `claimWithinLimit`.
 */
export function isOfUnlimitedPartner(row: "claim" | "item"): SQL {
  return sql`(select user_limit from partners where partners.biz_id = ${sql.identifier(row)}.biz_id) is null`;
}

function claimsFrom(columns: SQL): SQL {
  return sql`select * from unnest(${columns}) as claim(user_id, biz_id, region)`;
}

/** All replicas insert and lock in this order, so that concurrent statements for the same users cannot deadlock. */
export function byUserID(a: { userID: string }, b: { userID: string }): number {
  return a.userID < b.userID ? -1 : 1;
}
