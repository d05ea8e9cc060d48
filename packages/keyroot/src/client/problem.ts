import { printable } from "../input/describeValue.ts";
import { type ErrorCode, type FieldError, ServiceError } from "../errors.ts";
import { isObject } from "../input/json.ts";

/** What the service may answer. Another code, of a newer service or of something between, becomes SERVICE_ERROR. */
export const SERVICE_CODES = [
  "JSON_INVALID",
  "JSON_TOO_DEEP",
  "JSON_DUPLICATE_KEY",
  "JSON_FORBIDDEN_TOKEN",
  "CONTENT_TYPE",
  "FIELD_MISSING",
  "FIELD_UNKNOWN",
  "FIELD_INVALID",
  "USER_ID_INVALID",
  "REGION_UNKNOWN",
  "TEXT_TOO_LONG",
  "IDEMPOTENCY_KEY_INVALID",
  "IDEMPOTENCY_KEY_REUSED",
  "BODY_TOO_LARGE",
  "REFRESH_TOKEN_REFUSED",
  "ACCESS_TOKEN_MISSING",
  "ACCESS_TOKEN_INVALID",
  "ACCESS_TOKEN_EXPIRED",
  "ACCESS_TOKEN_REVOKED",
  "ACCESS_TOKEN_KIND",
  "ADMIN_TOKEN_REFUSED",
  "USER_ID_TAKEN",
  "USER_UNKNOWN",
  "TOKEN_UNKNOWN",
  "PARTNER_UNKNOWN",
  "BASE64_INVALID",
  "PUBLIC_KEY_LENGTH",
  "PUBLIC_KEY_FORMAT",
  "PUBLIC_KEY_NOT_ON_CURVE",
  "PUBLIC_KEY_SMALL_ORDER",
  "PUBLIC_KEY_NOT_PRIME_ORDER",
  "PUBLIC_KEY_UNKNOWN",
  "PUBLIC_KEY_REGISTERED",
  "KEY_ID_INVALID",
  "KEY_ID_MISMATCH",
  "RATE_LIMITED",
  "OPERATION_UNKNOWN",
  "METHOD_NOT_ALLOWED",
  "DEFECT",
  "UNAVAILABLE",
] as const satisfies readonly ErrorCode[];

/** Longer words of a service are cut. */
const MOST_CHARACTERS = 500;
const MOST_FIELDS = 50;

/** Refresh tokens and JWTs, as they might come back in the words of a service or a proxy. */
const TOKENS = /\bkr[su]_[\w-]+|\beyJ[\w-]+(?:\.[\w-]+)*/g;

/** What a refusal looks like before it is read. */
interface Refusal {
  status: number;
  headers: Headers;
  text: string;
}

/**
 * The error that an answer with a status of 400 or more stands for: a problem (RFC 9457), or anything that something
 * between here and the service may say.
 * @param operation who answers what, for the message
 */
export function readProblem(operation: string, { status, headers, text }: Refusal): ServiceError {
  const problem = parseObject(text);
  const { detail, instance } = problem;
  const code = SERVICE_CODES.find((code) => code === problem["code"]) ?? "SERVICE_ERROR";
  const words = typeof detail === "string" && detail !== "" ? `: ${quote(detail)}` : ".";
  const retryAfter = headers.get("Retry-After");
  return new ServiceError(status, code, `${operation} with the HTTP status ${status}${words}`, {
    errors: toFieldErrors(problem["errors"]),
    retryAfter: retryAfter !== null && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : undefined,
    requestId: typeof instance === "string" && /^[\w.:/-]{1,200}$/.test(instance) ? quote(instance) : undefined,
  });
}

function toFieldErrors(errors: unknown): FieldError[] | undefined {
  if (!Array.isArray(errors)) return undefined;
  return errors.slice(0, MOST_FIELDS).flatMap((error: unknown) => {
    if (!isObject(error)) return [];
    const { field, detail } = error;
    return typeof field === "string" && typeof detail === "string"
      ? [{ field: quote(field), detail: quote(detail) }]
      : [];
  });
}

/** Words from outside: cut, without what steers a terminal, and without tokens. */
function quote(words: string): string {
  const cut = words.length > MOST_CHARACTERS ? `${words.slice(0, MOST_CHARACTERS)}…` : words;
  return printable(cut.replace(TOKENS, "<token>"));
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    // Not of the service, then: the status says all that is known.
    return {};
  }
}
