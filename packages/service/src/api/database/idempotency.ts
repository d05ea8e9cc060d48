import { text } from "./drizzle.ts";
import { z } from "zod";
import type { Author } from "../base/author.ts";
import { ServiceError } from "../base/errors.ts";
import { hashSecret } from "./secrets.ts";

/** Time in ms for which a request with an Idempotency-Key can be repeated. */
export const REPEATABLE_MS = 24 * 60 * 60 * 1000;

/** The header that makes a creating request repeatable (draft-ietf-httpapi-idempotency-key-header). */
export const idempotencyHeader = z.object({
  "idempotency-key": z
    .string()
    .regex(/^[\x21-\x7e]{32,128}$/)
    .optional()
    .meta({
      description:
        "A random value, such as a UUID. Within 24 hours, a repeated request with the same value returns the same result.",
    }),
});

export interface RepeatableRequest {
  key: string;
  /** SHA-256 of the operation's path and the request's body, which is the same for a repeated request. */
  digest: string;
}

/**
 * The columns that identify the request that created a row. They are null if the request had no Idempotency-Key.
 * `request_hash` is the SHA-256 of the owner and the Idempotency-Key. `request_digest` is the SHA-256 of the
 * operation's path and the whole request.
 */
export const requestColumns = () => ({
  requestHash: text("request_hash").unique(),
  requestDigest: text("request_digest"),
});

/** The values of `requestColumns`. All values are null if the request has no Idempotency-Key. */
export interface RequestValues {
  requestHash: string | null;
  requestDigest: string | null;
}

/** The author and the time of a request that creates something. */
export interface RequestOptions {
  author: Author;
  now: number;
  /** The request, if it has an Idempotency-Key. */
  repeatable: RepeatableRequest | undefined;
}

/** Returns a repeatable request. @param body the body after validation by the operation's schema */
export function repeatable(key: string, path: string, body: unknown): RepeatableRequest {
  return { key, digest: hashSecret(path, JSON.stringify(body)) };
}

/**
 * Returns the column values that identify a request.
 * @param owner the caller or object that the Idempotency-Key belongs to
 */
export function requestValues(owner: string, request: RepeatableRequest | undefined): RequestValues {
  if (request === undefined) return { requestHash: null, requestDigest: null };
  return { requestHash: hashSecret(owner, request.key), requestDigest: request.digest };
}

/**
 * Checks that a request equals the earlier request with the same Idempotency-Key.
 * @throws ServiceError IDEMPOTENCY_KEY_REUSED
 */
export function checkSameRequest(earlier: RequestValues | undefined, request: RequestValues): void {
  if (earlier?.requestDigest !== request.requestDigest) throw keyReused("it belongs to a different request");
}

/** Creates the error for a repeated request if the first result cannot be returned. */
export function keyReused(reason: string): ServiceError {
  const message = `The Idempotency-Key was used before: ${reason}. Send a new key.`;
  return new ServiceError(409, "IDEMPOTENCY_KEY_REUSED", message);
}
