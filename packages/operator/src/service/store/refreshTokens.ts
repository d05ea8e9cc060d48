import { randomUUID } from "node:crypto";
import { and, asc, eq, getTableColumns, isNotNull, isNull, lt, sql } from "drizzle-orm";
import { ServiceError } from "keyroot/errors";
import type { Region, UserID } from "keyroot/identity";
import type { Principal } from "../tokens/accessTokens.ts";
import { hashSecret, makeRefreshToken, openToken, parseRefreshToken, sealToken } from "../tokens/refreshToken.ts";
import { batchingLoader } from "./batchingLoader.ts";
import { type Database, type Databases, perRegion } from "./database.ts";
import { serverTokens, users, userTokens } from "./tables.ts";

/** How long a request with an Idempotency-Key can be repeated. */
const REPEATABLE_MS = 24 * 60 * 60 * 1000;

/** A new refresh token, at the only time when its value is available. */
export interface CreatedToken {
  tokenID: string;
  token: string;
  /** Milliseconds since 1970. */
  created: number;
}

/** What a list of refresh tokens contains: never the token's value. */
interface TokenInfo {
  tokenID: string;
  /** Milliseconds since 1970. */
  created: number;
  /** Milliseconds since 1970; null while the token is active. */
  revoked: number | null;
}

export interface ServerTokenInfo extends TokenInfo {
  name: string | null;
}

export interface UserTokenInfo extends TokenInfo {
  context: string;
}

export interface CreateTokenOptions {
  /** Milliseconds since 1970. */
  now: number;
  /** The request's Idempotency-Key, if it has one. */
  idempotencyKey: string | undefined;
}

/** Stores refresh tokens: partners' in the home database, users' in the user's region, each only as a hash. */
export class RefreshTokenStore {
  readonly #databases: Databases;
  readonly #serverTokens;
  readonly #userTokens;

  constructor(databases: Databases) {
    this.#databases = databases;
    const { home } = databases;
    const hash = sql.placeholder("hash");
    const id = sql.placeholder("tokenID");
    const activeServerTokens = home
      .select({ tokenID: serverTokens.tokenID })
      .from(serverTokens)
      .where(and(sql`${serverTokens.tokenID} = any(${id}::uuid[])`, isNull(serverTokens.revoked)))
      .prepare("active_server_tokens");
    const serverTokensByHash = home
      .select({ tokenHash: serverTokens.tokenHash, tokenID: serverTokens.tokenID, bizID: serverTokens.bizID })
      .from(serverTokens)
      .where(and(sql`${serverTokens.tokenHash} = any(${hash}::text[])`, isNull(serverTokens.revoked)))
      .prepare("server_tokens_by_hash");
    this.#serverTokens = {
      byHash: batchingLoader(async (hashes: readonly string[]) =>
        inOrder(hashes, await serverTokensByHash.execute({ hash: hashes }), "tokenHash"),
      ),
      active: batchingLoader(async (ids: readonly string[]) =>
        inOrder(ids, await activeServerTokens.execute({ tokenID: ids }), "tokenID"),
      ),
    };
    this.#userTokens = perRegion(databases, (database) => {
      const activeUserTokens = database
        .select({ tokenID: userTokens.tokenID })
        .from(userTokens)
        .where(and(sql`${userTokens.tokenID} = any(${id}::uuid[])`, isNull(userTokens.revoked)))
        .prepare("active_user_tokens");
      const userTokensByHash = database
        .select({
          tokenHash: userTokens.tokenHash,
          tokenID: userTokens.tokenID,
          userID: userTokens.userID,
          bizID: users.bizID,
        })
        .from(userTokens)
        .innerJoin(users, eq(users.userID, userTokens.userID))
        .where(and(sql`${userTokens.tokenHash} = any(${hash}::text[])`, isNull(userTokens.revoked)))
        .prepare("user_tokens_by_hash");
      return {
        byHash: batchingLoader(async (hashes: readonly string[]) =>
          inOrder(hashes, await userTokensByHash.execute({ hash: hashes }), "tokenHash"),
        ),
        active: batchingLoader(async (ids: readonly string[]) =>
          inOrder(ids, await activeUserTokens.execute({ tokenID: ids }), "tokenID"),
        ),
      };
    });
  }

  /**
   * The principal of a refresh token.
   * @returns undefined when the token is malformed, unknown, revoked or another partner's: callers cannot tell which
   */
  async principalOf(token: string, bizID: string): Promise<Principal | undefined> {
    const parsed = parseRefreshToken(token);
    if (parsed === undefined) return undefined;
    const hash = hashSecret(token);
    let principal: Principal | undefined;
    if (parsed.kind === "partner") {
      const found = await this.#serverTokens.byHash(hash);
      if (found !== undefined) principal = { kind: "partner", bizID: found.bizID, tokenID: found.tokenID };
    } else {
      const { region } = parsed;
      const found = await this.#userTokens[region].byHash(hash);
      if (found !== undefined) {
        const { bizID, tokenID, userID } = found;
        principal = { kind: "user", region, bizID, tokenID, userID };
      }
    }
    return principal?.bizID === bizID ? principal : undefined;
  }

  /** Whether a principal's refresh token is not revoked. Revocation takes effect on its access tokens at once. */
  async isActive(principal: Principal): Promise<boolean> {
    const tokens = principal.kind === "partner" ? this.#serverTokens : this.#userTokens[principal.region];
    return (await tokens.active(principal.tokenID)) !== undefined;
  }

  /** Creates a partner's refresh token. @throws ServiceError IDEMPOTENCY_KEY_REUSED */
  createForServer(bizID: string, name: string | null, options: CreateTokenOptions): Promise<CreatedToken> {
    const { home } = this.#databases;
    return createToken({ kind: "partner" }, bizID, options, {
      insert: (row) =>
        home
          .insert(serverTokens)
          .values({ ...row, bizID, name })
          .onConflictDoNothing()
          .returning(),
      find: (requestHash) => home.select().from(serverTokens).where(eq(serverTokens.requestHash, requestHash)),
      isSameRequest: (row) => row.name === name,
    });
  }

  /** Creates a user's refresh token. @throws ServiceError IDEMPOTENCY_KEY_REUSED */
  createForUser(
    { userID, region }: { userID: UserID; region: Region },
    context: string,
    options: CreateTokenOptions,
  ): Promise<CreatedToken> {
    const database = this.#databases.regions[region];
    return createToken({ kind: "user", region }, userID, options, {
      insert: (row) =>
        database
          .insert(userTokens)
          .values({ ...row, userID, context })
          .onConflictDoNothing()
          .returning(),
      find: (requestHash) => database.select().from(userTokens).where(eq(userTokens.requestHash, requestHash)),
      isSameRequest: (row) => row.context === context,
    });
  }

  listOfPartner(bizID: string): Promise<ServerTokenInfo[]> {
    const { tokenID, created, revoked, name } = getTableColumns(serverTokens);
    return this.#databases.home
      .select({ tokenID, created, revoked, name })
      .from(serverTokens)
      .where(eq(serverTokens.bizID, bizID))
      .orderBy(asc(created), asc(tokenID));
  }

  listOfUser({ userID, region }: { userID: UserID; region: Region }): Promise<UserTokenInfo[]> {
    const { tokenID, created, revoked, context } = getTableColumns(userTokens);
    return this.#databases.regions[region]
      .select({ tokenID, created, revoked, context })
      .from(userTokens)
      .where(eq(userTokens.userID, userID))
      .orderBy(asc(created), asc(tokenID));
  }

  /**
   * Revokes a partner's own token permanently. Repeating the call has no effect.
   * @returns undefined when the partner has no such token
   */
  async revokeOfPartner(bizID: string, tokenID: string, now: number): Promise<ServerTokenInfo | undefined> {
    const [revoked] = await this.#databases.home
      .update(serverTokens)
      .set({ revoked: sql`coalesce(${serverTokens.revoked}, ${now})`, sealedToken: null })
      .where(and(eq(serverTokens.bizID, bizID), eq(serverTokens.tokenID, tokenID)))
      .returning();
    return revoked;
  }

  /**
   * Revokes a user's token permanently. Repeating the call has no effect.
   * @returns undefined when the user has no such token
   */
  async revokeOfUser(
    { userID, region }: { userID: UserID; region: Region },
    tokenID: string,
    now: number,
  ): Promise<UserTokenInfo | undefined> {
    const [revoked] = await this.#databases.regions[region]
      .update(userTokens)
      .set({ revoked: sql`coalesce(${userTokens.revoked}, ${now})`, sealedToken: null })
      .where(and(eq(userTokens.userID, userID), eq(userTokens.tokenID, tokenID)))
      .returning();
    return revoked;
  }

  /** Deletes the sealed copies of tokens whose requests can no longer be repeated. */
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

/** The columns that both tables of tokens have. */
interface TokenRow {
  tokenID: string;
  tokenHash: string;
  created: number;
  requestHash: string | null;
  sealedToken: string | null;
}

/** Creates a token, or returns the one that an earlier request with the same Idempotency-Key created. */
async function createToken<Row extends TokenRow>(
  kind: Parameters<typeof makeRefreshToken>[0],
  owner: string,
  { now, idempotencyKey }: CreateTokenOptions,
  rows: {
    insert: (row: TokenRow) => Promise<Row[]>;
    find: (requestHash: string) => Promise<Row[]>;
    isSameRequest: (row: Row) => boolean;
  },
): Promise<CreatedToken> {
  const token = makeRefreshToken(kind);
  const tokenID = randomUUID();
  const requestHash = idempotencyKey === undefined ? null : hashSecret(owner, idempotencyKey);
  const sealedToken = idempotencyKey === undefined ? null : await sealToken(token, tokenID, idempotencyKey);
  const row = { tokenID, tokenHash: hashSecret(token), created: now, requestHash, sealedToken };
  const [inserted] = await rows.insert(row);
  if (inserted !== undefined) return { tokenID, token, created: now };
  if (idempotencyKey === undefined || requestHash === null) throw new Error("Two tokens of 256 random bits are equal.");

  const [earlier] = await rows.find(requestHash);
  if (earlier === undefined || !rows.isSameRequest(earlier)) throw keyReused("it belongs to a different request");
  if (earlier.sealedToken === null || earlier.created < now - REPEATABLE_MS)
    throw keyReused("its token is revoked or older than 24 hours, so it is no longer available");
  const opened = await openToken(earlier.sealedToken, earlier.tokenID, idempotencyKey);
  return { tokenID: earlier.tokenID, token: opened, created: earlier.created };
}

function keyReused(reason: string): ServiceError {
  const message = `The Idempotency-Key was used before: ${reason}. Send a new key.`;
  return new ServiceError(409, "IDEMPOTENCY_KEY_REUSED", message);
}

/** One row per value, in the order of the values; undefined for a value without a row. */
function inOrder<Row, Key extends keyof Row>(values: readonly Row[Key][], rows: Row[], key: Key): (Row | undefined)[] {
  const byValue = new Map(rows.map((row) => [row[key], row]));
  return values.map((value) => byValue.get(value));
}
