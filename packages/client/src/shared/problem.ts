import { isObject, printable } from "keyroot/internal/input";
import { retryAfterOf } from "keyroot/internal/transport";
import { SERVICE_CODES } from "../errorCodes.ts";
import { type FieldError, type KeyInError, ServiceError, type ServiceErrorDetails } from "../errors.ts";

/** Maximum length of a quoted text from the service in characters. Longer texts are cut off. */
const MAX_CHARACTERS = 500;
const MAX_FIELDS = 50;

/** Matches refresh tokens and JWTs, which a service or proxy may repeat in a message. */
const TOKENS = /\bkr[su]_[\w-]+|\beyJ[\w-]+(?:\.[\w-]+)*/g;

/**
 * A response with an HTTP status of 400 or more. Its content can be anything, because the response may come from a
 * proxy.
 */
interface Refusal {
  status: number;
  headers: Headers;
  /** The parsed JSON. Undefined if the response is not JSON. */
  answer: unknown;
}

/**
 * Converts a response with an HTTP status of 400 or more into an error. The service sends a problem document (RFC
 * 9457), but a response from a proxy may have any content.
 */
export function readProblem(host: string, path: string, { status, headers, answer }: Refusal): ServiceError {
  const problem = isObject(answer) ? answer : {};
  const { request_id } = problem;
  return toServiceError(`${host} returned the HTTP status ${status} for ${path}`, status, problem, {
    errors: toFieldErrors(problem["errors"]),
    key: toKeyInError(problem),
    retryAfter: retryAfterOf(headers),
    requestID: typeof request_id === "string" && /^[\w.:/-]{1,200}$/.test(request_id) ? quote(request_id) : undefined,
  });
}

/**
 * Makes an error from the code and detail of a problem document.
 * @param subject the start of the error message
 */
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

/** Prepares an untrusted text for an error message by shortening it and replacing control characters and tokens. */
function quote(text: string): string {
  const cut = text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
  return printable(cut.replace(TOKENS, "<token>"));
}
