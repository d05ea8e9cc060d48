import { printable } from "keyroot/internal/input";
import { SERVICE_CODES } from "../errorCodes.ts";
import { type FieldError, type KeyInError, ServiceError, type ServiceErrorDetails } from "../errors.ts";
import { isObject } from "keyroot/internal/input";

/** Maximum length of a quoted text from the service in characters. Longer texts are cut off. */
const MAX_CHARACTERS = 500;
const MAX_FIELDS = 50;
/** Maximum wait in seconds, which is 31 years. This maximum replaces longer values of Retry-After. */
const MAX_RETRY_AFTER_S = 999_999_999;

/** Matches refresh tokens and JWTs, which a service or proxy may repeat in a message. */
const TOKENS = /\bkr[su]_[\w-]+|\beyJ[\w-]+(?:\.[\w-]+)*/g;

/**
 * A response with an HTTP status of 400 or more. The response can have any content, because a proxy may have sent the
 * response.
 */
interface Refusal {
  status: number;
  headers: Headers;
  /** The parsed JSON. Undefined if the response is not JSON. */
  answer: unknown;
}

/**
 * Converts a response with an HTTP status of 400 or more into an error. The service sends a problem document (RFC
 * 9457). A proxy may send any content.
 */
export function readProblem(host: string, path: string, { status, headers, answer }: Refusal): ServiceError {
  const problem = isObject(answer) ? answer : {};
  const { request_id } = problem;
  return toServiceError(`${host} returned the HTTP status ${status} for ${path}`, status, problem, {
    errors: toFieldErrors(problem["errors"]),
    key: toKeyInError(problem),
    retryAfter: parseRetryAfter(headers.get("Retry-After")),
    requestID: typeof request_id === "string" && /^[\w.:/-]{1,200}$/.test(request_id) ? quote(request_id) : undefined,
  });
}

/** Makes an error from the code and detail of a problem document. @param subject the start of the error message */
export function toServiceError(
  subject: string,
  status: number,
  { code, detail }: Record<string, unknown>,
  details: ServiceErrorDetails = {},
): ServiceError {
  const [known = "SERVICE_ERROR"] = SERVICE_CODES.filter((each) => each === code);
  const reason = typeof detail === "string" && detail !== "" ? `: ${quote(detail)}` : ".";
  return new ServiceError(status, known, `${subject}${reason}`, details);
}

/**
 * Parses a Retry-After header: a number of seconds, or a date (RFC 9110, sections 10.2.3 and 5.6.7). Returns the wait
 * in seconds, or undefined if the value is malformed.
 */
function parseRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return Math.min(Number(value), MAX_RETRY_AFTER_S);
  // Every HTTP date begins with the name of a weekday. A date in the oldest format does not end with "GMT".
  const isDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(value);
  const date = isDate ? Date.parse(value.endsWith(" GMT") ? value : `${value} GMT`) : NaN;
  if (Number.isNaN(date)) return undefined;
  return Math.min(Math.max(0, Math.ceil((date - Date.now()) / 1000)), MAX_RETRY_AFTER_S);
}

const KEY_STATES = ["pending", "submitted", "published"] as const;

function toKeyInError({ state, hold_ends_at: holdEndsAt }: Record<string, unknown>): KeyInError | undefined {
  const [known] = KEY_STATES.filter((name) => name === state);
  if (known === undefined) return undefined;
  const isTime = holdEndsAt === null || (Number.isSafeInteger(holdEndsAt) && (holdEndsAt as number) >= 0);
  return { state: known, ...(isTime && { holdEndsAt: holdEndsAt as number | null }) };
}

function toFieldErrors(errors: unknown): FieldError[] | undefined {
  if (!Array.isArray(errors)) return undefined;
  return errors.slice(0, MAX_FIELDS).flatMap((error: unknown) => {
    if (!isObject(error)) return [];
    const { field, detail } = error;
    return typeof field === "string" && typeof detail === "string"
      ? [{ field: quote(field), detail: quote(detail) }]
      : [];
  });
}

/** Prepares an untrusted text for an error message. Shortens the text, and replaces control characters and tokens. */
function quote(text: string): string {
  const cut = text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
  return printable(cut.replace(TOKENS, "<token>"));
}
