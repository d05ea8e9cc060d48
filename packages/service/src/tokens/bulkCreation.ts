import { and, asc, count, isNull, sql } from "../api/database/drizzle.ts";
import { REGIONS, type Region, type UserID } from "keyroot/internal/identity";
import { ServiceError } from "../api/base/errors.ts";
import { type Change, recordChanges } from "../auditLog/recordChange.ts";
import { byUserID, type Claim, claimWithinLimit, findClaims, prepareClaims } from "../users/claims.ts";
import { columnOf, isAnyOf } from "../api/database/columns.ts";
import type { Database, Databases } from "../api/database/database.ts";
import type { RequestOptions } from "../api/database/idempotency.ts";
import { hashSecret } from "../api/database/secrets.ts";
import { users } from "../users/tables.ts";
import { userTokens } from "./tables.ts";
import { makeToken, MAX_ACTIVE, openEarlier, type TokenRow, tooManyTokens } from "./createToken.ts";
import { creationOf, type NewUser, newUser, type User } from "../users/newUser.ts";
import { userDeactivated, userErased, userIDTaken, userInOtherRegion } from "../users/userErrors.ts";

/** A user to create. With a `context` (a device or purpose), a refresh token is also created. */
export interface WantedUser {
  userID: UserID;
  region: Region;
  context?: string | undefined;
}

/** A user that this request or an earlier one created. `token` is undefined if the request did not ask for one. */
export interface CreatedUser {
  user: User;
  token?: string | undefined;
}

type UserRow = typeof users.$inferSelect;

/**
 * Creates lists of users with one statement per table. The results are the same as with a separate request for each
 * user. `operations.ts` counts the users of a list toward the rate limit.
 */
export class BulkCreation {
  readonly #databases: Databases;
  readonly #stage: string;
  readonly #insertClaims;

  constructor(databases: Databases, stage: string) {
    this.#databases = databases;
    this.#stage = stage;
    this.#insertClaims = prepareClaims(databases.home);
  }

  /**
   * Creates users and their refresh tokens. Each region creates all of its users and tokens, or none of them after a
   * failure. Repeating the call completes the list. With an Idempotency-Key, the same user and context get the same
   * token in every list.
   * @returns the result or the error for each user, in the order of the list
   */
  async create(
    bizID: string,
    wanted: readonly WantedUser[],
    options: RequestOptions,
  ): Promise<(CreatedUser | ServiceError)[]> {
    const claims = await this.#claim(bizID, wanted);
    const refusals = wanted.map(({ userID, region }) => {
      const claim = claims.get(userID);
      if (claim instanceof ServiceError) return claim;
      if (claim?.bizID !== bizID) return userIDTaken();
      return claim.region === region ? undefined : userInOtherRegion(claim.region);
    });
    const results = new Map<WantedUser, CreatedUser | ServiceError>();
    // A failure in one region is reported only after the other region's transaction has ended.
    const settled = await Promise.allSettled(
      REGIONS.map(async (region) => {
        const here = wanted.filter((user, i) => user.region === region && refusals[i] === undefined);
        if (here.length === 0) return;
        const created = await this.#createInRegion(bizID, region, here, options);
        here.forEach((user, i) => results.set(user, present(created[i])));
      }),
    );
    for (const each of settled) if (each.status === "rejected") throw each.reason;
    return wanted.map((user, i) => refusals[i] ?? present(results.get(user)));
  }

  /** Claims user ids in the order of the list, within the partner's user limit. */
  async #claim(bizID: string, wanted: readonly WantedUser[]): Promise<Map<UserID, Claim | ServiceError>> {
    const { home } = this.#databases;
    const claims = new Map<UserID, Claim>();
    for (const { userID, region } of wanted) if (!claims.has(userID)) claims.set(userID, { userID, bizID, region });
    const found = new Map<UserID, Claim | ServiceError>();
    const add = (rows: readonly Claim[]) => {
      for (const row of rows) found.set(row.userID, row);
    };
    const unknown = () => [...claims.values()].filter(({ userID }) => !found.has(userID));
    add(await this.#insertClaims(unknown()));
    const earlier = unknown().map(({ userID }) => userID);
    if (earlier.length > 0) add(await findClaims(home, earlier));
    if (unknown().length > 0) {
      const { claims: within, refusal } = await claimWithinLimit(home, bizID, unknown());
      add(within);
      for (const { userID } of unknown()) found.set(userID, refusal);
    }
    return found;
  }

  /** Creates users with claimed ids, and the users' tokens, in one transaction. */
  async #createInRegion(
    bizID: string,
    region: Region,
    wanted: readonly WantedUser[],
    options: RequestOptions,
  ): Promise<(CreatedUser | ServiceError)[]> {
    // Encrypt before the transaction, because encryption takes longer than the statements.
    const tokens = await Promise.all(
      wanted.map(async ({ userID, context }) => {
        if (context === undefined) return undefined;
        // The same user and context are treated as the same request in every list.
        const repeatable = options.repeatable && {
          ...options.repeatable,
          digest: hashSecret("user of a list", region),
        };
        return makeToken({ kind: "user", region }, `${userID}\n${context}`, { ...options, repeatable });
      }),
    );
    const ids = [...new Set(wanted.map(({ userID }) => userID))];
    const rows = ids.map((userID) => newUser({ userID, bizID, region }, options.now, this.#stage));
    const database = this.#databases.regions[region];
    const results = await database.transaction(async (transaction) => {
      const inserted = await insertUsers(transaction, rows);
      const isNew = new Set(inserted.map(({ userID }) => userID));
      const earlier = ids.filter((userID) => !isNew.has(userID));
      const locked = earlier.length === 0 ? [] : await lockUsers(transaction, earlier);
      const byID = new Map([...inserted, ...locked].map((row) => [row.userID, row]));
      const planned = wanted.map(({ userID, context = "" }, i) =>
        planFor(present(byID.get(userID)), context, tokens[i]),
      );
      const created = await createTokens(transaction, planned, locked);
      const changes = [...inserted.map(creationOf), ...created.map((row) => creationOfToken(row, bizID))];
      await recordChanges(transaction, options.author, changes);
      return planned;
    });
    const { repeatable, now } = options;
    return Promise.all(
      results.map(async ({ user, refusal, made, earlier }) => {
        if (refusal !== undefined) return refusal;
        if (earlier === undefined || made === undefined || repeatable === undefined)
          return { user, token: made?.token };
        return openEarlier(earlier, made.row, repeatable, now).then((token) => ({ user, token }), orThrow);
      }),
    );
  }
}

/** The planned result for one user in the list. */
interface Planned {
  user: User;
  context: string;
  /** The token to store. Undefined if no token is needed. */
  made: { token: string; row: TokenRow } | undefined;
  /** The token that an earlier request with the same Idempotency-Key stored. */
  earlier?: TokenRow | undefined;
  refusal?: ServiceError | undefined;
}

function planFor(user: UserRow, context: string, made: Planned["made"]): Planned {
  const planned = { user, context, made };
  if (user.erased !== null) return { ...planned, refusal: userErased() };
  return made !== undefined && user.deactivated !== null ? { ...planned, refusal: userDeactivated() } : planned;
}

type UserTokenRow = TokenRow & { userID: UserID; context: string };

function creationOfToken({ created: at, tokenID: token, userID: user }: UserTokenRow, partner: string): Change {
  return { action: "refreshToken.created", at, partner, user, token };
}

/**
 * Stores the tokens of a plan, and marks those that could not be stored.
 * @param locked the users who may have tokens
 * @returns the stored tokens
 */
async function createTokens(
  transaction: Database,
  plan: Planned[],
  locked: readonly UserRow[],
): Promise<UserTokenRow[]> {
  const known = new Map<string, TokenRow>();
  const active = new Map<string, number>();
  if (locked.length > 0) {
    const hashes = plan.flatMap(({ made }) => made?.row.requestHash ?? []);
    const earlier = await transaction.select().from(userTokens).where(isAnyOf(userTokens.requestHash, hashes));
    for (const row of earlier) known.set(String(row.requestHash), row);
    const ids = locked.map(({ userID }) => userID);
    const counts = await transaction
      .select({ userID: userTokens.userID, tokens: count() })
      .from(userTokens)
      .where(and(isAnyOf(userTokens.userID, ids), isNull(userTokens.revoked)))
      .groupBy(userTokens.userID);
    for (const { userID, tokens } of counts) active.set(userID, tokens);
  }
  const rows: UserTokenRow[] = [];
  for (const planned of plan) {
    const { user, context, made, refusal } = planned;
    if (made === undefined || refusal !== undefined) continue;
    const { requestHash } = made.row;
    planned.earlier = requestHash === null ? undefined : known.get(requestHash);
    if (planned.earlier !== undefined) continue;
    const tokens = active.get(user.userID) ?? 0;
    if (tokens >= MAX_ACTIVE) {
      planned.refusal = tooManyTokens();
      continue;
    }
    active.set(user.userID, tokens + 1);
    // The list may contain the same user and context again.
    if (requestHash !== null) known.set(requestHash, made.row);
    rows.push({ ...made.row, userID: user.userID, context });
  }
  if (rows.length > 0) await insertTokens(transaction, rows);
  return rows;
}

/** Inserts users, and returns the inserted users. Users with an existing id are omitted. */
function insertUsers(transaction: Database, rows: readonly NewUser[]): Promise<UserRow[]> {
  const sorted = rows.toSorted(byUserID);
  const columns = (["userID", "bizID", "region", "bucket", "salt", "created"] as const).map((name) =>
    columnOf(name === "created" ? "bigint" : "text", sorted, (row) => row[name]),
  );
  return transaction
    .insert(users)
    .select(sql`select *, null::bigint, null::bigint from unnest(${sql.join(columns, sql`, `)})`)
    .onConflictDoNothing()
    .returning();
}

/** Locks and returns existing users. Concurrent requests for the same users then run one after the other. */
function lockUsers(transaction: Database, ids: readonly UserID[]): Promise<UserRow[]> {
  return transaction
    .select()
    .from(users)
    .where(isAnyOf(users.userID, ids))
    .orderBy(asc(users.userID))
    .for("no key update");
}

async function insertTokens(transaction: Database, rows: readonly UserTokenRow[]): Promise<void> {
  const columns = [
    columnOf("uuid", rows, ({ tokenID }) => tokenID),
    columnOf("text", rows, ({ tokenHash }) => tokenHash),
    columnOf("bigint", rows, ({ created }) => created),
    columnOf("text", rows, ({ requestHash }) => requestHash),
    columnOf("text", rows, ({ requestDigest }) => requestDigest),
    columnOf("text", rows, ({ sealedToken }) => sealedToken),
    columnOf("text", rows, ({ userID }) => userID),
    columnOf("text", rows, ({ context }) => context),
  ];
  await transaction.insert(userTokens).select(
    sql`select token_id, token_hash, created, null::bigint, null::bigint, request_hash, request_digest, sealed_token, user_id, context
      from unnest(${sql.join(columns, sql`, `)})
      as token(token_id, token_hash, created, request_hash, request_digest, sealed_token, user_id, context)`,
  );
}

function orThrow(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  throw error;
}

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("The database returned no row for a user of the list.");
  return value;
}
