import { and, asc, eq, gte, type SQL, sql, type PgTable } from "../api/database/drizzle.ts";
import type { Claim } from "../users/claims.ts";
import type { Database, Databases } from "../api/database/database.ts";
import { serverTokens, userTokens } from "./tables.ts";

export interface PageOptions {
  /** Lists only tokens that were created at this time or later. Default: all tokens. */
  since?: number | undefined;
  /** The id of the last token on the previous page. Undefined for the first page. */
  after?: string | undefined;
  limit: number;
}

/**
 * Lists one page of a partner's server tokens.
 * @returns undefined if the partner has no token with the id `after`
 */
export function listServerTokens({ home }: Databases, bizID: string, options: PageOptions) {
  return listTokens(home, serverTokens, eq(serverTokens.bizID, bizID), options);
}

/** Lists one page of a user's tokens. @returns undefined if the user has no token with the id `after` */
export function listUserTokens({ regions }: Databases, { userID, region }: Claim, options: PageOptions) {
  return listTokens(regions[region], userTokens, eq(userTokens.userID, userID), options);
}

/** Lists one page of the tokens that match `owned`, in the order of creation. */
async function listTokens<Table extends typeof serverTokens | typeof userTokens>(
  database: Database,
  table: Table,
  owned: SQL,
  { since = 0, after, limit }: PageOptions,
): Promise<{ tokens: Table["$inferSelect"][]; next: string | null } | undefined> {
  const { tokenID, created } = table;
  const read = () => database.select().from<PgTable>(table).$dynamic();
  let start: SQL | undefined;
  if (after !== undefined) {
    const [last] = await read().where(and(owned, eq(tokenID, after)));
    if (last === undefined) return undefined;
    start = sql`(${created}, ${tokenID}) > (${last["created"]}, ${after}::uuid)`;
  }
  const tokens = await read()
    .where(and(owned, gte(created, since), start))
    .orderBy(asc(created), asc(tokenID))
    .limit(limit);
  const page = tokens as Table["$inferSelect"][];
  return { tokens: page, next: page.length === limit ? (page.at(-1)?.tokenID ?? null) : null };
}
