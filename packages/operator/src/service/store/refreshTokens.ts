import { randomUUID } from "node:crypto";
import { and, asc, eq, getTableColumns, isNotNull, isNull, lt, sql } from "drizzle-orm";
import { ServiceError } from "keyroot/errors";
import type { UserID } from "keyroot/identity";
import type { Region } from "keyroot/identity";
import type { Bearer } from "../tokens/accessToken.ts";
import { hashOf, makeRefreshToken, openToken, parseRefreshToken, sealToken } from "../tokens/refreshToken.ts";
import type { Database, Databases } from "./database.ts";
import { serverTokens, users, userTokens } from "./tables.ts";
import { gather } from "./gather.ts";
import { everyRegion } from "./users.ts";

/** How long a repeated request is answered with the token that the first one made. */
const REPEATABLE_MS = 24 * 60 * 60 * 1000;

/** A token just made: the only time that it is there to be seen. */
export interface MadeToken {
  tokenID: string;
  token: string;
  /** Milliseconds since 1970. */
  created: number;
}

/** What is told of a refresh token later: never the token. */
interface TokenNote {
  tokenID: string;
  /** Milliseconds since 1970. */
  created: number;
  /** Milliseconds since 1970; null while it stands. */
  revoked: number | null;
}

export interface ServerTokenNote extends TokenNote {
  name: string | null;
}

export interface UserTokenNote extends TokenNote {
  context: string;
}

/** When and how a token is made. */
export interface Making {
  /** Milliseconds since 1970. */
  now: number;
  /** Sent with a request that may be repeated. */
  idempotencyKey: string | undefined;
}

/** Refresh tokens: partners' in the home database, users' in the user's region. Of each only its SHA-256 is kept. */
export class RefreshTokenStore {
  readonly #databases: Databases;
  readonly #ofServer;
  readonly #ofUser;

  constructor(databases: Databases) {
    this.#databases = databases;
    const { home } = databases;
    const hash = sql.placeholder("hash");
    const id = sql.placeholder("tokenID");
    const serverByHash = home
      .select({ tokenHash: serverTokens.tokenHash, tokenID: serverTokens.tokenID, bizID: serverTokens.bizID })
      .from(serverTokens)
      .where(and(sql`${serverTokens.tokenHash} = any(${hash}::text[])`, isNull(serverTokens.revoked)))
      .prepare("server_tokens_by_hash");
    const serverStanding = home
      .select({ tokenID: serverTokens.tokenID })
      .from(serverTokens)
      .where(and(sql`${serverTokens.tokenID} = any(${id}::uuid[])`, isNull(serverTokens.revoked)))
      .prepare("server_tokens_standing");
    this.#ofServer = {
      byHash: gather(async (hashes: readonly string[]) =>
        inOrder(hashes, await serverByHash.execute({ hash: hashes }), "tokenHash"),
      ),
      standing: gather(async (ids: readonly string[]) =>
        inOrder(ids, await serverStanding.execute({ tokenID: ids }), "tokenID"),
      ),
    };
    this.#ofUser = everyRegion(databases, (database) => {
      const byHash = database
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
      const standing = database
        .select({ tokenID: userTokens.tokenID })
        .from(userTokens)
        .where(and(sql`${userTokens.tokenID} = any(${id}::uuid[])`, isNull(userTokens.revoked)))
        .prepare("user_tokens_standing");
      return {
        byHash: gather(async (hashes: readonly string[]) =>
          inOrder(hashes, await byHash.execute({ hash: hashes }), "tokenHash"),
        ),
        standing: gather(async (ids: readonly string[]) =>
          inOrder(ids, await standing.execute({ tokenID: ids }), "tokenID"),
        ),
      };
    });
  }

  /** Whose a refresh token is; undefined where it is none, unknown, revoked, or another partner's: nobody is told which. */
  async bearerOf(token: string, bizID: string): Promise<Bearer | undefined> {
    const parsed = parseRefreshToken(token);
    if (parsed === undefined) return undefined;
    const hash = hashOf(token);
    let bearer: Bearer | undefined;
    if (parsed.kind === "partner") {
      const found = await this.#ofServer.byHash(hash);
      if (found !== undefined) bearer = { kind: "partner", bizID: found.bizID, tokenID: found.tokenID };
    } else {
      const found = await this.#ofUser[parsed.region].byHash(hash);
      if (found !== undefined) {
        const { bizID, tokenID, userID } = found;
        bearer = { kind: "user", region: parsed.region, bizID, tokenID, userID };
      }
    }
    return bearer?.bizID === bizID ? bearer : undefined;
  }

  /** Whether the refresh token of an access token stands: a revoked one stops its access tokens at once. */
  async stands(bearer: Bearer): Promise<boolean> {
    const { tokenID } = bearer;
    const query = bearer.kind === "partner" ? this.#ofServer : this.#ofUser[bearer.region];
    return (await query.standing(tokenID)) !== undefined;
  }

  /** Makes a partner's refresh token. @throws ServiceError IDEMPOTENCY_KEY_REUSED */
  makeForServer(bizID: string, name: string | null, making: Making): Promise<MadeToken> {
    const { home } = this.#databases;
    return make({ kind: "partner" }, bizID, making, {
      insert: (row) =>
        home
          .insert(serverTokens)
          .values({ ...row, bizID, name })
          .onConflictDoNothing()
          .returning(),
      find: (requestHash) => home.select().from(serverTokens).where(eq(serverTokens.requestHash, requestHash)),
      isSame: (row) => row.name === name,
    });
  }

  /** Makes a user's refresh token. @throws ServiceError IDEMPOTENCY_KEY_REUSED */
  makeForUser(user: { userID: UserID; region: Region }, context: string, making: Making): Promise<MadeToken> {
    const { userID, region } = user;
    const database = this.#databases.regions[region];
    return make({ kind: "user", region }, userID, making, {
      insert: (row) =>
        database
          .insert(userTokens)
          .values({ ...row, userID, context })
          .onConflictDoNothing()
          .returning(),
      find: (requestHash) => database.select().from(userTokens).where(eq(userTokens.requestHash, requestHash)),
      isSame: (row) => row.context === context,
    });
  }

  listOfPartner(bizID: string): Promise<ServerTokenNote[]> {
    const { tokenID, created, revoked, name } = getTableColumns(serverTokens);
    return this.#databases.home
      .select({ tokenID, created, revoked, name })
      .from(serverTokens)
      .where(eq(serverTokens.bizID, bizID))
      .orderBy(asc(created), asc(tokenID));
  }

  listOfUser({ userID, region }: { userID: UserID; region: Region }): Promise<UserTokenNote[]> {
    const { tokenID, created, revoked, context } = getTableColumns(userTokens);
    return this.#databases.regions[region]
      .select({ tokenID, created, revoked, context })
      .from(userTokens)
      .where(eq(userTokens.userID, userID))
      .orderBy(asc(created), asc(tokenID));
  }

  /** Revokes a partner's own token, once and for ever. @returns undefined where the partner has no such token */
  async revokeOfPartner(bizID: string, tokenID: string, now: number): Promise<ServerTokenNote | undefined> {
    const [revoked] = await this.#databases.home
      .update(serverTokens)
      .set({ revoked: sql`coalesce(${serverTokens.revoked}, ${now})`, sealedToken: null })
      .where(and(eq(serverTokens.bizID, bizID), eq(serverTokens.tokenID, tokenID)))
      .returning();
    return revoked;
  }

  /** Revokes a user's token, once and for ever. @returns undefined where the user has no such token */
  async revokeOfUser(
    { userID, region }: { userID: UserID; region: Region },
    tokenID: string,
    now: number,
  ): Promise<UserTokenNote | undefined> {
    const [revoked] = await this.#databases.regions[region]
      .update(userTokens)
      .set({ revoked: sql`coalesce(${userTokens.revoked}, ${now})`, sealedToken: null })
      .where(and(eq(userTokens.userID, userID), eq(userTokens.tokenID, tokenID)))
      .returning();
    return revoked;
  }

  /** Drops the sealed copies of tokens whose requests can be repeated no longer. */
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

/** What both kinds of token have in their rows. */
interface TokenRow {
  tokenID: string;
  tokenHash: string;
  created: number;
  requestHash: string | null;
  sealedToken: string | null;
}

/** Makes a token, or answers the one that the same request made before: a repetition leaves no orphan. */
async function make<Row extends TokenRow>(
  kind: Parameters<typeof makeRefreshToken>[0],
  owner: string,
  { now, idempotencyKey }: Making,
  rows: {
    insert: (row: TokenRow) => Promise<Row[]>;
    find: (requestHash: string) => Promise<Row[]>;
    isSame: (row: Row) => boolean;
  },
): Promise<MadeToken> {
  const token = makeRefreshToken(kind);
  const tokenID = randomUUID();
  const requestHash = idempotencyKey === undefined ? null : hashOf(owner, idempotencyKey);
  const sealedToken = idempotencyKey === undefined ? null : await sealToken(token, tokenID, idempotencyKey);
  const [inserted] = await rows.insert({ tokenID, tokenHash: hashOf(token), created: now, requestHash, sealedToken });
  if (inserted !== undefined) return { tokenID, token, created: now };
  if (idempotencyKey === undefined || requestHash === null) throw new Error("Two tokens of 256 random bits are equal.");

  const [earlier] = await rows.find(requestHash);
  if (earlier === undefined || !rows.isSame(earlier)) throw reused("another request was sent with it");
  if (earlier.sealedToken === null || earlier.created < now - REPEATABLE_MS)
    throw reused("its token is shown no more: it was made a day ago, or is revoked");
  const opened = await openToken(earlier.sealedToken, earlier.tokenID, idempotencyKey);
  return { tokenID: earlier.tokenID, token: opened, created: earlier.created };
}

function reused(why: string): ServiceError {
  return new ServiceError(409, "IDEMPOTENCY_KEY_REUSED", `The Idempotency-Key was used before: ${why}. Use a new one.`);
}

/** The rows in the order of what was asked for; undefined where there is none. */
function inOrder<Row, Key extends keyof Row>(asked: readonly Row[Key][], rows: Row[], key: Key): (Row | undefined)[] {
  const found = new Map(rows.map((row) => [row[key], row]));
  return asked.map((value) => found.get(value));
}
