import { randomUUID } from "node:crypto";
import { ServiceError } from "../api/base/errors.ts";
import {
  checkSameRequest,
  keyReused,
  type RepeatableRequest,
  REPEATABLE_MS,
  type RequestOptions,
  requestValues,
  type RequestValues,
} from "../api/database/idempotency.ts";
import { deriveKey, hashSecret, open, seal } from "../api/database/secrets.ts";
import { makeRefreshToken } from "./tokenText.ts";

/** Maximum number of active tokens for each user, and for the servers of each partner. */
export const MAX_ACTIVE = 100;

/** A new refresh token. Its value is returned again only to a repeated request with the same Idempotency-Key. */
export interface CreatedToken {
  tokenID: string;
  token: string;
  created: number;
}

/** Columns that both tables of tokens have. */
export interface TokenRow extends RequestValues {
  tokenID: string;
  tokenHash: string;
  created: number;
  sealedToken: string | null;
}

/** Creates a token, or returns the token that an earlier request with the same Idempotency-Key created. */
export async function createToken(
  kind: Parameters<typeof makeRefreshToken>[0],
  owner: string,
  options: RequestOptions,
  rows: {
    insert: (row: TokenRow) => Promise<TokenRow[] | "full">;
    find: (requestHash: string) => Promise<TokenRow[]>;
  },
): Promise<CreatedToken> {
  const { token, row } = await makeToken(kind, owner, options);
  const { now, repeatable } = options;
  const result = await rows.insert(row);
  if (result !== "full" && result.length > 0) return { tokenID: row.tokenID, token, created: now };

  const [earlier] = row.requestHash === null ? [] : await rows.find(row.requestHash);
  if (result === "full" && earlier === undefined) throw tooManyTokens();
  if (repeatable === undefined) throw new Error("Two tokens of 256 random bits are equal.");
  if (earlier === undefined) throw keyReused("its token was deleted");
  return {
    tokenID: earlier.tokenID,
    token: await openEarlier(earlier, row, repeatable, now),
    created: earlier.created,
  };
}

/**
 * Creates a token and its table row.
 * @param owner the object that the Idempotency-Key belongs to
 */
export async function makeToken(
  kind: Parameters<typeof makeRefreshToken>[0],
  owner: string,
  { now, repeatable }: Omit<RequestOptions, "author">,
): Promise<{ token: string; row: TokenRow }> {
  const token = makeRefreshToken(kind);
  const tokenID = randomUUID();
  const sealedToken = repeatable === undefined ? null : await seal(token, sealingKey(tokenID, repeatable.key));
  const columns = requestValues(owner, repeatable);
  return { token, row: { tokenID, tokenHash: hashSecret(token), created: now, ...columns, sealedToken } };
}

/**
 * Returns the token that an earlier request with the same Idempotency-Key created.
 * @throws ServiceError IDEMPOTENCY_KEY_REUSED if the earlier request was different, or its token is no longer available
 */
export async function openEarlier(
  earlier: TokenRow,
  request: RequestValues,
  { key }: RepeatableRequest,
  now: number,
): Promise<string> {
  checkSameRequest(earlier, request);
  const { tokenID, created, sealedToken } = earlier;
  if (sealedToken === null || created < now - REPEATABLE_MS)
    throw keyReused("its token is revoked or older than 24 hours, so it is no longer available");
  return open(sealedToken, sealingKey(tokenID, key));
}

/** Only a request with the same Idempotency-Key can decrypt the token. */
function sealingKey(tokenID: string, idempotencyKey: string): Uint8Array {
  return deriveKey(idempotencyKey, tokenID, "keyroot refresh token");
}

/** The error for an owner who already has the maximum number of active tokens. */
export function tooManyTokens(): ServiceError {
  const message = `The maximum of ${MAX_ACTIVE} active tokens is reached. Revoke one first.`;
  return new ServiceError(409, "TOKEN_LIMIT_REACHED", message);
}
