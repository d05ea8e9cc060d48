import { eq, isNull, type SQL, sql, type PgColumn } from "../api/database/drizzle.ts";
import type { Database } from "../api/database/database.ts";
import { users } from "../users/tables.ts";
import type { LastUse } from "./lastUse.ts";
import { serverTokens, userTokens } from "./tables.ts";

export type Refusal = "revoked" | "suspended" | "deactivated";

/** The state of an unrevoked token. */
interface TokenState {
  tokenID: string;
  lastUsed: number | null;
  suspended: boolean;
  deactivated: boolean;
}

/**
 * Rows for the values of an array parameter, each with the value and its place in the array. In this form, PostgreSQL
 * plans the query only once for all array lengths. This saves time, because planning takes longer than execution.
 */
const wanted = sql`unnest((select ${sql.placeholder("values")}::text[])) with ordinality as wanted(value, place)`;
const place = sql<number>`wanted.place::int`;

/**
 * Prepares a search for unrevoked server tokens by a column. The `limit` clause makes PostgreSQL look up each value in
 * the column's unique index. Without it, a plan made for an empty table could read the whole table.
 */
export function prepareServerTokens(
  home: Database,
  column: typeof serverTokens.tokenHash | typeof serverTokens.tokenID,
  name: string,
) {
  const { tokenID, lastUsed, bizID, revoked } = serverTokens;
  const found = home
    .select({ tokenID, lastUsed, bizID, revoked, suspended: isSuspended("server_tokens").as("suspended") })
    .from(serverTokens)
    .where(isWanted(column))
    .limit(1)
    .as("found");
  const statement = home
    .select({
      place,
      ...{ tokenID: found.tokenID, lastUsed: found.lastUsed, bizID: found.bizID, suspended: found.suspended },
      deactivated: sql<boolean>`false`,
    })
    .from(wanted)
    .innerJoinLateral(found, isNull(found.revoked))
    .prepare(name);
  return async (values: readonly string[]) => inOrder(values, await statement.execute({ values }));
}

/** Prepares a search for unrevoked user tokens by a column. */
export function prepareUserTokens(
  database: Database,
  column: typeof userTokens.tokenHash | typeof userTokens.tokenID,
  name: string,
) {
  const { tokenID, lastUsed, userID, revoked } = userTokens;
  const found = database
    .select({
      ...{ tokenID, lastUsed, userID, revoked, bizID: users.bizID, suspended: isSuspended("users").as("suspended") },
      deactivated: sql<boolean>`${users.deactivated} is not null`.as("is_deactivated"),
    })
    .from(userTokens)
    .innerJoin(users, eq(users.userID, userTokens.userID))
    .where(isWanted(column))
    .limit(1)
    .as("found");
  const statement = database
    .select({
      place,
      ...{ tokenID: found.tokenID, lastUsed: found.lastUsed, userID: found.userID, bizID: found.bizID },
      ...{ suspended: found.suspended, deactivated: found.deactivated },
    })
    .from(wanted)
    .innerJoinLateral(found, isNull(found.revoked))
    .prepare(name);
  return async (values: readonly string[]) => inOrder(values, await statement.execute({ values }));
}

function isWanted(column: PgColumn): SQL {
  return sql`${column} = wanted.value::${sql.raw(column.getSQLType())}`;
}

/** Returns one row per value, in the order of the values, or undefined for a value without a row. */
function inOrder<Row extends { place: number }>(values: readonly string[], rows: Row[]): (Row | undefined)[] {
  const byPlace = new Map(rows.map((row) => [row.place, row]));
  return values.map((_, i) => byPlace.get(i + 1));
}

/** Whether a row's partner is suspended, according to the database that contains the row. */
function isSuspended(table: "server_tokens" | "users"): SQL<boolean> {
  // The subquery is SQL text, because drizzle omits table names in queries of one table.
  return sql<boolean>`exists (select 1 from suspensions where suspensions.biz_id = ${sql.identifier(table)}.biz_id)`;
}

/** Returns the reason for rejecting a token, if any. Records the use of an accepted token. */
export function refusalOf(token: TokenState | undefined, uses: LastUse, now: number): Refusal | undefined {
  if (token === undefined) return "revoked";
  if (token.deactivated) return "deactivated";
  if (token.suspended) return "suspended";
  uses.note(token.tokenID, token.lastUsed, now);
  return undefined;
}
