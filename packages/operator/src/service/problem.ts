import type { z } from "zod";
import { type ErrorCode, type FieldError, KeyrootError, ServiceError } from "keyroot/errors";
import { REGIONS } from "keyroot/identity";

/** The media type of a problem (RFC 9457). */
export const PROBLEM_TYPE = "application/problem+json";

/** No field of this API has a longer name, and every token is longer. */
const MOST_NAME = 32;

/** What a wrong value of certain fields is called; of all others it is FIELD_INVALID. */
const FIELD_CODES: Record<string, ErrorCode> = {
  user_id_hex: "USER_ID_INVALID",
  user_id: "USER_ID_INVALID",
  after: "USER_ID_INVALID",
  region: "REGION_UNKNOWN",
  "idempotency-key": "IDEMPOTENCY_KEY_INVALID",
};

/** The refusal of a body, or headers, that are not as their schema says. The first fault gives the code. */
export function refusalOf({ issues }: Pick<z.core.$ZodError, "issues">): ServiceError {
  const errors = issues.flatMap(fieldErrorsOf);
  const [first] = issues;
  const code = first === undefined ? "FIELD_INVALID" : codeOf(first);
  const message = errors.map(({ field, detail }) => `${field}: ${detail}`).join("; ");
  return new ServiceError(400, code, `The request is not as it should be: ${message}.`, { errors });
}

function codeOf(issue: z.core.$ZodIssue): ErrorCode {
  if (issue.code === "unrecognized_keys") return "FIELD_UNKNOWN";
  if (isMissing(issue)) return "FIELD_MISSING";
  if (issue.code === "too_big" && issue.origin === "string") return "TEXT_TOO_LONG";
  return FIELD_CODES[String(issue.path.at(-1))] ?? "FIELD_INVALID";
}

function fieldErrorsOf(issue: z.core.$ZodIssue): FieldError[] {
  const field = issue.path.join(".") || "body";
  if (issue.code === "unrecognized_keys")
    return issue.keys.slice(0, 10).map((key) => ({ field: shown(key), detail: "there is no such field" }));
  return [{ field, detail: detailOf(issue) }];
}

function detailOf(issue: z.core.$ZodIssue): string {
  if (isMissing(issue)) return "is missing";
  const code = codeOf(issue);
  if (code === "REGION_UNKNOWN") return `must be ${REGIONS.join(" or ")}`;
  if (code === "USER_ID_INVALID")
    return issue.path.at(-1) === "user_id_hex" ? "must be 40 hex digits" : "must be 32 characters of zBase32";
  if (issue.code === "too_big")
    return `must have at most ${issue.maximum} ${issue.origin === "string" ? "characters" : ""}`.trim();
  if (issue.code === "too_small")
    return `must be at least ${issue.minimum}${issue.origin === "string" ? " character long" : ""}`;
  return issue.code === "invalid_type" ? `must be of the type ${issue.expected}` : "has not the right form";
}

/** A field's name as the caller wrote it, unless it is so long that it may be a token. */
function shown(key: string): string {
  return key.length <= MOST_NAME ? key : `a name of ${key.length} characters`;
}

function isMissing(issue: z.core.$ZodIssue): boolean {
  return issue.code !== "unrecognized_keys" && issue.path.length > 0 && issue.input === undefined;
}

/** A problem as it is sent. */
export function problemOf(error: ServiceError, requestID: string) {
  const { code, status, message, errors } = error;
  return {
    type: `urn:keyroot:error:${code}`,
    title: code.toLowerCase().replaceAll("_", " "),
    status,
    code,
    detail: message,
    instance: requestID,
    ...(errors && { errors }),
  };
}

/** Frameworks and databases have errors of their own: what of them is the caller's business. */
export function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  // A record's or a JSON text's fault: what the caller sent.
  if (error instanceof KeyrootError && error.name === "ArgumentError")
    return new ServiceError(400, error.code, error.message, { cause: error });
  const { statusCode, code } = error as { statusCode?: number; code?: string };
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE")
    return new ServiceError(415, "CONTENT_TYPE", "Send the header Content-Type: application/json.", { cause: error });
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE")
    return new ServiceError(413, "BODY_TOO_LARGE", "The body is larger than any request of this API.", {
      cause: error,
    });
  if (isDatabaseAway(error)) {
    const message = "The service cannot reach its database: try again in a moment.";
    return new ServiceError(503, "UNAVAILABLE", message, { cause: error, retryAfter: 2 });
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new ServiceError(statusCode, "FIELD_INVALID", "The request is not one of HTTP as it should be.", {
      cause: error,
    });
  return new ServiceError(500, "DEFECT", "The service has a defect; its log tells more under this request's id.", {
    cause: error,
  });
}

/**
 * Whether a query failed for a reason that passes: no connection, a server that stops or starts (class 57), too few resources (53),
 * a connection's failure (08), a transaction that lost against another (40).
 */
function isDatabaseAway(error: unknown): boolean {
  for (let reason = error; reason instanceof Error; reason = reason.cause) {
    const { code } = reason as { code?: unknown };
    if (
      typeof code === "string" &&
      /^(?:08|40|53|57)[0-9A-Z]{3}$|^E(?:CONN|HOST|NET|PIPE|TIMEDOUT|NOTFOUND|AI_)/.test(code)
    )
      return true;
    if (
      /^Connection terminated|^timeout expired|timeout exceeded when trying to connect|^Query read timeout/.test(
        reason.message,
      )
    )
      return true;
    if (reason instanceof AggregateError && reason.errors.some(isDatabaseAway)) return true;
  }
  return false;
}
