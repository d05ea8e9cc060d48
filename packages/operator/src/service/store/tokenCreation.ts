import { randomUUID } from "node:crypto";
import { ServiceError } from "keyroot/errors";
import { hashSecret, makeRefreshToken, openToken, sealToken } from "../tokens/refreshToken.ts";
import type { Author } from "./changes.ts";
import { keyReused } from "./idempotency.ts";

/** How long a request with an Idempotency-Key can be repeated. */
export const REPEATABLE_MS = 24 * 60 * 60 * 1000;
/** The most active tokens of one user, and of one partner's servers. */
export const MAX_ACTIVE = 100;

/** A new refresh token, at the only time when its value is available. */
export interface CreatedToken {
  tokenID: string;
  token: string;
  /** Milliseconds since 1970. */
  created: number;
}

export interface CreateTokenOptions {
  author: Author;
  /** Milliseconds since 1970. */
  now: number;
  /** The request's Idempotency-Key, if it has one. */
  idempotencyKey: string | undefined;
}

/** The columns that both tables of tokens have. */
export interface TokenRow {
  tokenID: string;
  tokenHash: string;
  created: number;
  requestHash: string | null;
  sealedToken: string | null;
}

/** Creates a token, or returns the one that an earlier request with the same Idempotency-Key created. */
export async function createToken<Row extends TokenRow>(
  kind: Parameters<typeof makeRefreshToken>[0],
  owner: string,
  options: CreateTokenOptions,
  rows: {
    insert: (row: TokenRow) => Promise<Row[] | "full">;
    find: (requestHash: string) => Promise<Row[]>;
    isSameRequest: (row: Row) => boolean;
  },
): Promise<CreatedToken> {
  const { token, row } = await makeToken(kind, owner, options);
  const { now, idempotencyKey } = options;
  const result = await rows.insert(row);
  if (result !== "full" && result.length > 0) return { tokenID: row.tokenID, token, created: now };

  const [earlier] = row.requestHash === null ? [] : await rows.find(row.requestHash);
  if (result === "full" && earlier === undefined) throw tooManyTokens();
  if (idempotencyKey === undefined) throw new Error("Two tokens of 256 random bits are equal.");
  if (earlier === undefined || !rows.isSameRequest(earlier)) throw keyReused("it belongs to a different request");
  return { tokenID: earlier.tokenID, token: await openEarlier(earlier, idempotencyKey, now), created: earlier.created };
}

/** A new token, and the row that stores it. @param owner what the Idempotency-Key belongs to */
export async function makeToken(
  kind: Parameters<typeof makeRefreshToken>[0],
  owner: string,
  { now, idempotencyKey }: Omit<CreateTokenOptions, "author">,
): Promise<{ token: string; row: TokenRow }> {
  const token = makeRefreshToken(kind);
  const tokenID = randomUUID();
  const requestHash = idempotencyKey === undefined ? null : hashSecret(owner, idempotencyKey);
  const sealedToken = idempotencyKey === undefined ? null : await sealToken(token, tokenID, idempotencyKey);
  return { token, row: { tokenID, tokenHash: hashSecret(token), created: now, requestHash, sealedToken } };
}

/** The token that an earlier request with the same Idempotency-Key created. @throws ServiceError IDEMPOTENCY_KEY_REUSED */
export async function openEarlier(
  { tokenID, created, sealedToken }: TokenRow,
  idempotencyKey: string,
  now: number,
): Promise<string> {
  if (sealedToken === null || created < now - REPEATABLE_MS)
    throw keyReused("its token is revoked or older than 24 hours, so it is no longer available");
  return openToken(sealedToken, tokenID, idempotencyKey);
}

/** The error for an owner with the most active tokens that are allowed. */
export function tooManyTokens(): ServiceError {
  const message = `There are ${MAX_ACTIVE} active refresh tokens, the most that are allowed: revoke one first.`;
  return new ServiceError(409, "TOKEN_LIMIT_REACHED", message);
}
