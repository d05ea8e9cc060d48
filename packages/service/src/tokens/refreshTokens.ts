import { and, count, eq, isNotNull, isNull, lt } from "../api/database/drizzle.ts";
import type { Claim } from "../users/claims.ts";
import type { Principal } from "../api/base/principals.ts";
import { REPEATABLE_MS, type RequestOptions } from "../api/database/idempotency.ts";
import { hashSecret } from "../api/database/secrets.ts";
import { parseRefreshToken } from "./tokenText.ts";
import { batchingLoader } from "../api/database/batchingLoader.ts";
import { prepareServerTokens, prepareUserTokens, type Refusal, refusalOf } from "./findTokens.ts";
import { recordChange } from "../auditLog/recordChange.ts";
import { type Databases, perRegion, regionalDatabases } from "../api/database/database.ts";
import { LastUse } from "./lastUse.ts";
import { lockPartner } from "../partners/tables.ts";
import { serverTokens, userTokens } from "./tables.ts";
import { users } from "../users/tables.ts";
import { type CreatedToken, createToken, MAX_ACTIVE } from "./createToken.ts";
import { userDeactivated } from "../users/userErrors.ts";

/**
 * Stores hashes of partners' refresh tokens in the home database, and of users' refresh tokens in the user's region.
 */
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
   * Finds the principal of a refresh token, and the reason if the token is rejected.
   * @returns undefined if the token is malformed, unknown, revoked or belongs to another partner
   */
  async principalOf(token: string, bizID: string, now: number) {
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
   * Returns the reason why a principal's access tokens are rejected, or undefined if they are accepted. Revocation,
   * suspension and deactivation take effect immediately.
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
  createForServer(bizID: string, name: string | null, options: RequestOptions): Promise<CreatedToken> {
    const { home } = this.#databases;
    return createToken({ kind: "partner" }, bizID, options, {
      insert: (row) =>
        home.transaction(async (transaction) => {
          await lockPartner(transaction, bizID);
          const isActive = and(eq(serverTokens.bizID, bizID), isNull(serverTokens.revoked));
          const [active] = await transaction.select({ tokens: count() }).from(serverTokens).where(isActive);
          if (isFull(active)) return "full";
          const values = { ...row, bizID, name };
          const inserted = await transaction.insert(serverTokens).values(values).onConflictDoNothing().returning();
          const { tokenID: token, created: at } = row;
          const change = { action: "serverToken.created", at, partner: bizID, token } as const;
          if (inserted.length > 0) await recordChange(transaction, options.author, change);
          return inserted;
        }),
      find: (requestHash) => home.select().from(serverTokens).where(eq(serverTokens.requestHash, requestHash)),
    });
  }

  /**
   * Creates a user's refresh token.
   * @throws ServiceError IDEMPOTENCY_KEY_REUSED, TOKEN_LIMIT_REACHED, USER_DEACTIVATED
   */
  createForUser({ userID, region, bizID }: Claim, context: string, options: RequestOptions): Promise<CreatedToken> {
    const database = this.#databases.regions[region];
    return createToken({ kind: "user", region }, userID, options, {
      insert: (row) =>
        database.transaction(async (transaction) => {
          // The lock makes concurrent requests run one after the other, so that no request exceeds the limit.
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

  /**
   * Deletes the encrypted copies of tokens that were created more than 24 hours ago. Older requests cannot be repeated.
   */
  async dropSealed(now: number): Promise<void> {
    const before = now - REPEATABLE_MS;
    const ofUsers = regionalDatabases(this.#databases).map((database) => [database, userTokens] as const);
    for (const [database, table] of [[this.#databases.home, serverTokens] as const, ...ofUsers])
      await database
        .update(table)
        .set({ sealedToken: null })
        .where(and(isNotNull(table.sealedToken), lt(table.created, before)));
  }
}

function isFull(active: { tokens: number } | undefined): boolean {
  return active !== undefined && active.tokens >= MAX_ACTIVE;
}
