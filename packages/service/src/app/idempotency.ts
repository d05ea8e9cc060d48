import { z } from "zod";
import { ServiceError } from "keyroot/errors";
import { deriveKey, hashSecret, open, seal } from "./secrets.ts";

/** Time in which a request with an Idempotency-Key can be repeated. */
export const REPEATABLE_MS = 24 * 60 * 60 * 1000;

/** The header of repeatable requests that create something (draft-ietf-httpapi-idempotency-key-header). */
export const idempotencyHeader = z.object({
  "idempotency-key": z
    .string()
    .regex(/^[\x21-\x7e]{32,128}$/)
    .optional()
    .meta({
      description:
        "A random value, such as a UUID. Within 24 hours, repeating the request with the same key returns the same result.",
    }),
});

/** A request with an Idempotency-Key. */
export interface RepeatableRequest {
  key: string;
  /** SHA-256 of the operation's path and the whole request. Equal for a repeated request. */
  digest: string;
}

/** The stored columns of a repeatable request; null without an Idempotency-Key. */
export interface RequestColumns {
  /** SHA-256 of the owner and the Idempotency-Key. */
  requestHash: string | null;
  /** The `digest` of the request. */
  requestDigest: string | null;
}

/** A request to an operation with this Idempotency-Key. @param body as the operation's schema returns it */
export function repeatable(key: string, path: string, body: unknown): RepeatableRequest {
  return { key, digest: hashSecret(path, JSON.stringify(body)) };
}

/** The columns that identify a request. @param owner the caller or object to which the Idempotency-Key belongs */
export function requestColumns(owner: string, request: RepeatableRequest | undefined): RequestColumns {
  if (request === undefined) return { requestHash: null, requestDigest: null };
  return { requestHash: hashSecret(owner, request.key), requestDigest: request.digest };
}

/**
 * Compares a request with the earlier request that had the same Idempotency-Key. @throws ServiceError
 * IDEMPOTENCY_KEY_REUSED
 */
export function checkSameRequest(earlier: RequestColumns | undefined, request: RequestColumns): void {
  if (earlier?.requestDigest !== request.requestDigest) throw keyReused("it belongs to a different request");
}

/** The error for an Idempotency-Key that cannot return the result of its first request. */
export function keyReused(reason: string): ServiceError {
  const message = `The Idempotency-Key was used before: ${reason}. Send a new key.`;
  return new ServiceError(409, "IDEMPOTENCY_KEY_REUSED", message);
}

/** Encrypts a token under an Idempotency-Key, so that only a repeated request can decrypt it. */
export function sealToken(token: string, tokenID: string, idempotencyKey: string): Promise<string> {
  return seal(token, sealingKey(tokenID, idempotencyKey));
}

/** Decrypts what `sealToken` returned for the same token id and Idempotency-Key. */
export function openToken(sealed: string, tokenID: string, idempotencyKey: string): Promise<string> {
  return open(sealed, sealingKey(tokenID, idempotencyKey));
}

function sealingKey(tokenID: string, idempotencyKey: string): Uint8Array {
  return deriveKey(idempotencyKey, tokenID, "keyroot refresh token");
}
