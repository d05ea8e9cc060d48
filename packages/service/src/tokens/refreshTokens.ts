import { and, asc, count, eq, gte, isNotNull, isNull, lt, type SQL, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { Region, UserID } from "keyroot/identity";
import type { Principal } from "./accessTokens.ts";
import { REPEATABLE_MS } from "../database/idempotency.ts";
import { hashSecret } from "../database/secrets.ts";
import { parseRefreshToken } from "./refreshToken.ts";
import { batchingLoader } from "../database/batchingLoader.ts";
import { prepareServerTokens, prepareUserTokens } from "./findTokens.ts";
import { type Author, recordChange } from "../auditLog/recordChange.ts";
import { type Database, type Databases, perRegion } from "../database/database.ts";
import { LastUse } from "./lastUse.ts";
import { partners } from "../partners/tables.ts";
import { serverTokens, userTokens } from "./tables.ts";
import { users } from "../users/tables.ts";
import { type CreatedToken, createToken, type CreateTokenOptions, MAX_ACTIVE } from "./tokenCreation.ts";
import { type Refusal, refusalOf, userDeactivated } from "./tokenState.ts";

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
  /** The id of the page's last token. Null if no page follows. */
  next: string | null;
}

/** Stores hashes of refresh tokens: partners' tokens in the home database, users' tokens in the user's region. */
export class RefreshTokenStore {
  readonly #databases: Databases;
  readonly #uses: LastUse[];
  readonly #serverTokens;
  readonly #userTokens;

  constructor(databases: Databases) {
    this.#databases = databases;
    const { home } = databases;
    this.#serverTokens = {
      uses: new LastUse(home, serverTokens),
      byHash: batchingLoader(prepareServerTokens(home, serverTokens.tokenHash, "server_tokens_by_hash")),
      active: batchingLoader(prepareServerTokens(home, serverTokens.tokenID, "active_server_tokens")),
    };
    this.#userTokens = perRegion(databases, (database) => ({
      uses: new LastUse(database, userTokens),
      byHash: batchingLoader(prepareUserTokens(database, userTokens.tokenHash, "user_tokens_by_hash")),
      active: batchingLoader(prepareUserTokens(database, userTokens.tokenID, "active_user_tokens")),
    }));
    this.#uses = [this.#serverTokens, ...Object.values(this.#userTokens)].map(({ uses }) => uses);
  }

  /**
   * Finds the principal of a refresh token, and the reason if the token is refused.
   * @param now milliseconds since 1970
   * @returns undefined if the token is malformed, unknown, revoked or another partner's. Callers cannot see which
   */
  async principalOf(
    token: string,
    bizID: string,
    now: number,
  ): Promise<{ principal: Principal; refusal: Refusal | undefined } | undefined> {
    const parsed = parseRefreshToken(token);
    if (parsed === undefined) return undefined;
    const hash = hashSecret(token);
    if (parsed.kind === "partner") {
      const found = await this.#serverTokens.byHash(hash);
      if (found?.bizID !== bizID) return undefined;
      const principal = { kind: "partner" as const, bizID, tokenID: found.tokenID };
      return { principal, refusal: refusalOf(found, this.#serverTokens.uses, now) };
    }
    const { region } = parsed;
    const found = await this.#userTokens[region].byHash(hash);
    if (found?.bizID !== bizID) return undefined;
    const principal = { kind: "user" as const, region, bizID, tokenID: found.tokenID, userID: found.userID };
    return { principal, refusal: refusalOf(found, this.#userTokens[region].uses, now) };
  }

  /**
   * Returns the reason why a principal's tokens are refused, or undefined if they are accepted. Revocation, suspension
   * and deactivation also affect existing access tokens immediately.
   * @param now milliseconds since 1970
   */
  async refusalOf(principal: Principal, now: number): Promise<Refusal | undefined> {
    const { active, uses } = principal.kind === "partner" ? this.#serverTokens : this.#userTokens[principal.region];
    return refusalOf(await active(principal.tokenID), uses, now);
  }

  /** Stores the token uses of the last second. */
  async storeUses(): Promise<void> {
    for (const uses of this.#uses) await uses.store();
  }

  /** Creates a server token. @throws ServiceError IDEMPOTENCY_KEY_REUSED, TOKEN_LIMIT_REACHED */
  createForServer(bizID: string, name: string | null, options: CreateTokenOptions): Promise<CreatedToken> {
    const { home } = this.#databases;
    return createToken({ kind: "partner" }, bizID, options, {
      insert: (row) =>
        home.transaction(async (transaction) => {
          // The lock makes concurrent requests count one after the other.
          const owner = transaction.select({ bizID: partners.bizID }).from(partners).where(eq(partners.bizID, bizID));
          await owner.for("no key update");
          const isActive = and(eq(serverTokens.bizID, bizID), isNull(serverTokens.revoked));
          const [active] = await transaction.select({ tokens: count() }).from(serverTokens).where(isActive);
          if (isFull(active)) return "full";
          const values = { ...row, bizID, name };
          const inserted = await transaction.insert(serverTokens).values(values).onConflictDoNothing().returning();
          const change = {
            action: "serverToken.created",
            at: row.created,
            partner: bizID,
            token: row.tokenID,
          } as const;
          if (inserted.length > 0) await recordChange(transaction, options.author, change);
          return inserted;
        }),
      find: (requestHash) => home.select().from(serverTokens).where(eq(serverTokens.requestHash, requestHash)),
    });
  }

  /** Creates a user's refresh token. @throws ServiceError IDEMPOTENCY_KEY_REUSED, TOKEN_LIMIT_REACHED, USER_DEACTIVATED */
  createForUser(
    { userID, region, bizID }: { userID: UserID; region: Region; bizID: string },
    context: string,
    options: CreateTokenOptions,
  ): Promise<CreatedToken> {
    const database = this.#databases.regions[region];
    return createToken({ kind: "user", region }, userID, options, {
      insert: (row) =>
        database.transaction(async (transaction) => {
          // The lock makes concurrent requests count one after the other.
          const isActiveUser = and(eq(users.userID, userID), isNull(users.deactivated));
          const owner = transaction.select({ userID: users.userID }).from(users).where(isActiveUser);
          if ((await owner.for("no key update")).length === 0) throw userDeactivated();
          const isActive = and(eq(userTokens.userID, userID), isNull(userTokens.revoked));
          const [active] = await transaction.select({ tokens: count() }).from(userTokens).where(isActive);
          if (isFull(active)) return "full";
          const values = { ...row, userID, context };
          const inserted = await transaction.insert(userTokens).values(values).onConflictDoNothing().returning();
          const { tokenID: token, created: at } = row;
          const change = { action: "refreshToken.created", at, partner: bizID, user: userID, token } as const;
          if (inserted.length > 0) await recordChange(transaction, options.author, change);
          return inserted;
        }),
      find: (requestHash) => database.select().from(userTokens).where(eq(userTokens.requestHash, requestHash)),
    });
  }

  /** Lists one page of a partner's server tokens. @returns undefined if the partner has no token `after` */
  listOfPartner(bizID: string, options: PageOptions): Promise<Page<ServerTokenInfo> | undefined> {
    return listTokens(this.#databases.home, serverTokens, eq(serverTokens.bizID, bizID), options);
  }

  /** Lists one page of a user's tokens. @returns undefined if the user has no token `after` */
  listOfUser(
    { userID, region }: { userID: UserID; region: Region },
    options: PageOptions,
  ): Promise<Page<UserTokenInfo> | undefined> {
    return listTokens(this.#databases.regions[region], userTokens, eq(userTokens.userID, userID), options);
  }

  /**
   * Revokes a server token permanently. Repeating the call has no effect.
   * @param bizID the token's partner; undefined for the operator, who may revoke any server token
   * @returns undefined if there is no such token
   */
  revokeServerToken(
    bizID: string | undefined,
    tokenID: string,
    now: number,
    author: Author,
  ): Promise<(ServerTokenInfo & { bizID: string }) | undefined> {
    return this.#databases.home.transaction(async (transaction) => {
      const owned = bizID === undefined ? undefined : eq(serverTokens.bizID, bizID);
      const which = and(owned, eq(serverTokens.tokenID, tokenID));
      const [revoked] = await transaction
        .update(serverTokens)
        .set({ revoked: now, sealedToken: null })
        .where(and(which, isNull(serverTokens.revoked)))
        .returning();
      if (revoked === undefined) return (await transaction.select().from(serverTokens).where(which))[0];
      const change = { action: "serverToken.revoked", at: now, partner: revoked.bizID, token: tokenID } as const;
      await recordChange(transaction, author, change);
      return revoked;
    });
  }

  /**
   * Revokes a user's token permanently. Repeating the call has no effect.
   * @returns undefined if the user has no such token
   */
  revokeOfUser(
    { userID, region, bizID }: { userID: UserID; region: Region; bizID: string },
    tokenID: string,
    now: number,
    author: Author,
  ): Promise<UserTokenInfo | undefined> {
    return this.#databases.regions[region].transaction(async (transaction) => {
      const which = and(eq(userTokens.userID, userID), eq(userTokens.tokenID, tokenID));
      const [revoked] = await transaction
        .update(userTokens)
        .set({ revoked: now, sealedToken: null })
        .where(and(which, isNull(userTokens.revoked)))
        .returning();
      if (revoked === undefined) return (await transaction.select().from(userTokens).where(which))[0];
      const change = { action: "refreshToken.revoked", at: now, partner: bizID, user: userID, token: tokenID } as const;
      await recordChange(transaction, author, change);
      return revoked;
    });
  }

  /** Deletes the sealed copies of tokens after the time in which their requests can be repeated. */
  async dropSealed(now: number): Promise<void> {
    const before = now - REPEATABLE_MS;
    const { home, regions } = this.#databases;
    await home
      .update(serverTokens)
      .set({ sealedToken: null })
      .where(and(isNotNull(serverTokens.sealedToken), lt(serverTokens.created, before)));
    for (const database of new Set<Database>(Object.values(regions)))
      await database
        .update(userTokens)
        .set({ sealedToken: null })
        .where(and(isNotNull(userTokens.sealedToken), lt(userTokens.created, before)));
  }
}

function isFull(active: { tokens: number } | undefined): boolean {
  return active !== undefined && active.tokens >= MAX_ACTIVE;
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
