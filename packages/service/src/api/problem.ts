import { z } from "zod";
import { CLIENT_ERROR_CODES, type ClientErrorCode, type FieldError } from "@keyroot/client/internal";
import { ERROR_CODES, KeyrootError } from "keyroot/internal/errors";
import { plural } from "@keyroot/operator/shared";
import { ServiceError } from "./base/errors.ts";
import { isDatabaseUnavailable } from "./database/unavailable.ts";
import { holdEndsAt, keyState, MAX_BODY_BYTES, strict, USER_ID_FORM } from "./fields.ts";

/** The media type of error responses (RFC 9457). */
export const PROBLEM_TYPE = "application/problem+json";

/** The body of every error response (RFC 9457). */
export const problemSchema = strict({
  type: z.string().meta({ description: "A URN with the error's code: urn:keyroot:error:<code>." }),
  title: z.string().meta({ description: "The error's code in words." }),
  status: z.int().min(400).max(599).meta({ description: "The HTTP status." }),
  code: z.string().meta({ description: "A stable identifier of the error." }),
  detail: z.string().meta({ description: "The problem and its remedy." }),
  request_id: z.string().meta({ description: "The id of the request in the service's log." }),
  errors: z
    .array(strict({ field: z.string(), detail: z.string() }))
    .optional()
    .meta({ description: "One entry for each invalid field." }),
  state: keyState.optional().meta({ description: "The state of the user's key." }),
  hold_ends_at: holdEndsAt.optional(),
}).meta({ id: "Problem", description: "A problem document, which describes an error (RFC 9457)." });

/** Maximum length of unknown field names in error messages, in characters. Longer names may be tokens. */
const MAX_SHOWN_NAME = 32;
/** Maximum number of invalid fields in an error response. */
const MAX_SHOWN_FIELDS = 20;

/** Error codes for invalid values, by field. Other fields use FIELD_INVALID. */
const FIELD_CODES: Record<string, ClientErrorCode> = {
  user_id_hex: "USER_ID_INVALID",
  user_id: "USER_ID_INVALID",
  region: "REGION_UNKNOWN",
  "idempotency-key": "IDEMPOTENCY_KEY_INVALID",
};

/** Units of size limits, by the type of the limited value. */
const NOUNS: Partial<Record<string, string>> = { string: "character", array: "item" };

/**
 * Returns the error for a body or headers that do not match the schema. If there are several issues, the first
 * determines the code.
 */
export function toValidationError({ issues }: Pick<z.core.$ZodError, "issues">): ServiceError {
  const errors = issues.flatMap(fieldErrorsOf).slice(0, MAX_SHOWN_FIELDS);
  const [first] = issues;
  const code = first === undefined ? "FIELD_INVALID" : codeOf(first);
  const message = errors.map(({ field, detail }) => `${field} ${detail}`).join(", ");
  return new ServiceError(400, code, `The request is invalid: ${message}.`, { errors });
}

function codeOf(issue: z.core.$ZodIssue): ClientErrorCode {
  if (issue.code === "unrecognized_keys") return "FIELD_UNKNOWN";
  if (isMissing(issue)) return "FIELD_MISSING";
  if (issue.code === "too_big" && issue.origin === "string") return "TEXT_TOO_LONG";
  // The `after` field may contain the id of a user or of a token.
  if (issue.code === "invalid_format" && issue.pattern === String(USER_ID_FORM)) return "USER_ID_INVALID";
  return FIELD_CODES[String(issue.path.at(-1))] ?? "FIELD_INVALID";
}

function fieldErrorsOf(issue: z.core.$ZodIssue): FieldError[] {
  if (issue.code === "unrecognized_keys")
    return issue.keys.slice(0, 10).map((key) => ({ field: shownName(key), detail: "is not a field of this request" }));
  return [{ field: issue.path.join(".") || "body", detail: detailOf(issue) }];
}

function detailOf(issue: z.core.$ZodIssue): string {
  if (isMissing(issue)) return "is missing";
  const code = codeOf(issue);
  if (code === "USER_ID_INVALID")
    return issue.path.at(-1) === "user_id_hex" ? "must be 40 hex digits" : "must be 32 characters of zBase32";
  if (issue.code === "too_big") return limitOf("at most", issue.maximum, issue);
  if (issue.code === "too_small") return limitOf("at least", issue.minimum, issue);
  if (issue.code === "invalid_value")
    return `must be ${issue.values.length > 2 ? `one of ${issue.values.join(", ")}` : issue.values.join(" or ")}`;
  if (issue.code === "invalid_format") return formOf(issue);
  return issue.code === "invalid_type" ? `must be of type ${issue.expected}` : "is invalid";
}

/** Describes a text's form, such as `must be a UUID`. Messages of our own schemas begin with `must`. */
function formOf({ message, format, pattern = format }: z.core.$ZodIssueInvalidStringFormat): string {
  if (message.startsWith("must ")) return message;
  return format === "uuid" ? "must be a UUID" : `must match ${pattern}`;
}

/** Describes a limit, such as `must have at most 500 items` or `must be at most 1000`. */
function limitOf(bound: "at most" | "at least", limit: number | bigint, { origin }: { origin: string }): string {
  const noun = NOUNS[origin];
  return noun === undefined ? `must be ${bound} ${limit}` : `must have ${bound} ${plural(Number(limit), noun)}`;
}

function shownName(key: string): string {
  return key.length <= MAX_SHOWN_NAME ? key : `a name of ${key.length} characters`;
}

function isMissing(issue: z.core.$ZodIssue): boolean {
  return issue.code !== "unrecognized_keys" && issue.path.length > 0 && issue.input === undefined;
}

/** Converts an error to a response body (RFC 9457). JSON omits values that are undefined. */
export function toProblem(error: ServiceError, requestID: string) {
  const { code, status, message, errors, key } = error;
  return {
    type: `urn:keyroot:error:${code}`,
    title: code.toLowerCase().replaceAll("_", " "),
    status,
    code,
    detail: message,
    request_id: requestID,
    errors,
    ...(key && { state: key.state, hold_ends_at: key.holdEndsAt }),
  };
}

/**
 * Converts any error to one that may be sent to the caller, with the original error as its `cause` for the log.
 * @param bodyLimit the maximum size of the request's body in bytes
 */
export function toServiceError(error: unknown, bodyLimit = MAX_BODY_BYTES): ServiceError {
  if (error instanceof ServiceError) return error;
  // Argument errors concern texts that the caller sent. Other errors concern the operator's configuration and files.
  const argumentCode = error instanceof KeyrootError && error.name === "ArgumentError" ? error.code : undefined;
  const known = [...ERROR_CODES, ...CLIENT_ERROR_CODES].find((each) => each === argumentCode);
  if (known !== undefined)
    return new ServiceError(known === "PUBLISHER_RUNNING" ? 409 : 400, known, (error as KeyrootError).message, {
      cause: error,
    });
  const { statusCode, code } = error as { statusCode?: number; code?: string };
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") return contentTypeError({ cause: error });
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE")
    return new ServiceError(413, "BODY_TOO_LARGE", `The body is larger than ${bodyLimit} bytes.`, {
      cause: error,
    });
  if (isDatabaseUnavailable(error)) {
    const message = "The service cannot reach its database. Try again later.";
    return new ServiceError(503, "UNAVAILABLE", message, { cause: error, retryAfter: 2 });
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new ServiceError(statusCode, "FIELD_INVALID", "The HTTP request is invalid.", { cause: error });
  const message = "The service failed. Its log contains the reason under this request's id.";
  return new ServiceError(500, "DEFECT", message, { cause: error });
}

export function contentTypeError(options: ErrorOptions = {}): ServiceError {
  const message = "The Content-Type is not application/json. Send JSON with this Content-Type.";
  return new ServiceError(415, "CONTENT_TYPE", message, options);
}
