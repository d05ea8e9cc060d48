import { and, asc, eq, gte, type SQL, sql, type PgTable } from "../api/database/drizzle.ts";
import type { Region, UserID } from "keyroot/internal/identity";
import type { Database, Databases } from "../api/database/database.ts";
import { serverTokens, userTokens } from "./tables.ts";

/** A refresh token in a list, without its secret value. */
interface TokenInfo {
  tokenID: string;
  /** Creation time in milliseconds since 1970. */
  created: number;
  /** Time of the revocation in milliseconds since 1970. Null while the token is active. */
  revoked: number | null;
  /** Start of the hour of the last use, in milliseconds since 1970. Null before the first use. */
  lastUsed: number | null;
}

export interface ServerTokenInfo extends TokenInfo {
  name: string | null;
}

export interface UserTokenInfo extends TokenInfo {
  context: string;
}

export interface PageOptions {
  /** Lists only tokens that were created at this time or later, in ms since 1970. Default: all tokens. */
  since?: number | undefined;
  /** The id of the last token on the previous page. Undefined for the first page. */
  after?: string | undefined;
  limit: number;
}

export interface Page<Token> {
  tokens: Token[];
  /** The id of the last token on the page, or null if no page follows. */
  next: string | null;
}

/**
 * Lists one page of a partner's server tokens.
 * @returns undefined if the partner has no token with the id `after`
 */
export function listServerTokens(
  databases: Databases,
  bizID: string,
  options: PageOptions,
): Promise<Page<ServerTokenInfo> | undefined> {
  return listTokens(databases.home, serverTokens, eq(serverTokens.bizID, bizID), options);
}

/** Lists one page of a user's tokens. @returns undefined if the user has no token with the id `after` */
export function listUserTokens(
  databases: Databases,
  { userID, region }: { userID: UserID; region: Region },
  options: PageOptions,
): Promise<Page<UserTokenInfo> | undefined> {
  return listTokens(databases.regions[region], userTokens, eq(userTokens.userID, userID), options);
}

/** Lists one page of the tokens that match `owned`, in the order of creation. */
async function listTokens<Table extends typeof serverTokens | typeof userTokens>(
  database: Database,
  table: Table,
  owned: SQL,
  { since = 0, after, limit }: PageOptions,
): Promise<Page<Table["$inferSelect"]> | undefined> {
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
