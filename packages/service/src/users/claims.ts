import { eq, type SQL, sql } from "../api/database/drizzle.ts";
import type { UserID } from "keyroot/internal/identity";
import { plural } from "@keyroot/operator/shared";
import { ServiceError } from "../api/base/errors.ts";
import { columnOf, isAnyOf } from "../api/database/columns.ts";
import type { Database } from "../api/database/database.ts";
import { countUsers } from "../partners/partners.ts";
import { partners } from "../partners/tables.ts";
import { userIDs } from "./tables.ts";

/** The partner and region to which a user id belongs. */
export type Claim = typeof userIDs.$inferSelect;

/**
 * The owner of ids that are slots of accounts (docs/accounts.md). No partner has the id "slot", so no partner can use
 * these ids.
 */
export const SLOT_OWNER = "slot";

/** Prepares the insertion of claims for partners without a user limit, which returns the inserted claims. */
export function prepareClaims(home: Database): (claims: readonly Claim[]) => Promise<Claim[]> {
  // PostgreSQL plans a statement of this form only once, even if the arrays' lengths change.
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

/** Inserts claims for ids that have no claim yet. */
export async function addClaims(home: Database, claims: readonly Claim[]): Promise<void> {
  const sorted = claims.toSorted(byUserID);
  const columns = [
    columnOf("text", sorted, ({ userID }) => userID),
    columnOf("text", sorted, ({ bizID }) => bizID),
    columnOf("text", sorted, ({ region }) => region),
  ];
  await insertClaims(home, claimsFrom(sql.join(columns, sql`, `)));
}

/** Gives an id that has a claim to another owner. */
export async function giveClaim(home: Database, { userID, ...owner }: Claim): Promise<void> {
  await home.update(userIDs).set(owner).where(eq(userIDs.userID, userID));
}

/** Prepares the query for the claim of one id, which is the placeholder `userID`. */
export function prepareGetClaim(home: Database) {
  return home
    .select()
    .from(userIDs)
    .where(eq(userIDs.userID, sql.placeholder("userID")))
    .prepare("get_claim");
}

/** Returns the claims of ids. Ids without a claim are omitted. */
export function findClaims(home: Database, ids: readonly UserID[]): Promise<Claim[]> {
  return home.select().from(userIDs).where(isAnyOf(userIDs.userID, ids));
}

/**
 * Inserts claims for the ids without a claim, and returns the new claims.
 * @param rows a query that returns the columns of claims
 */
export function insertClaims(home: Database, rows: SQL) {
  return home.insert(userIDs).select(rows).onConflictDoNothing().returning();
}

/** Whether a row belongs to a partner without a user limit. For other partners, `claimWithinLimit` adds claims. */
export function isOfUnlimitedPartner(row: "claim" | "item"): SQL {
  return sql`(select user_limit from partners where partners.biz_id = ${sql.identifier(row)}.biz_id) is null`;
}

function claimsFrom(columns: SQL): SQL {
  return sql`select * from unnest(${columns}) as claim(user_id, biz_id, region)`;
}

/** Compares rows by user id. All replicas lock rows in this order, so that concurrent statements cannot deadlock. */
export function byUserID(a: { userID: string }, b: { userID: string }): number {
  return a.userID < b.userID ? -1 : 1;
}

/**
 * Claims user ids for a partner with a user limit. If the list exceeds the limit, its last ids are not claimed. The
 * partner is locked, so that concurrent claims wait for each other and are counted correctly.
 * @param claims the wanted claims, for different ids without a claim
 * @returns the claims of the ids, which may belong to another partner, and the error USER_LIMIT_REACHED for ids without
 *   a claim
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
    const message = `You have ${plural(users + fitting.length, "user")}, and your limit is ${limit}. Request a higher limit from the service's operator.`;
    const refusal = new ServiceError(409, "USER_LIMIT_REACHED", message);
    return { claims: await findClaims(transaction, ids), refusal };
  });
}
