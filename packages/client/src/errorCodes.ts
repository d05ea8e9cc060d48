import type { ErrorCode } from "keyroot";

/**
 * The partner service's own error codes. The service also sends codes of `keyroot` about ids, keys and JSON. A proxy or
 * a newer service may send other codes. Clients replace these with SERVICE_ERROR.
 */
const REFUSAL_CODES = [
  "CONTENT_TYPE",
  "FIELD_MISSING",
  "FIELD_UNKNOWN",
  "FIELD_INVALID",
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
  "USER_DEACTIVATED",
  "USER_ERASED",
  "USER_LIMIT_REACHED",
  "TOKEN_UNKNOWN",
  "TOKEN_LIMIT_REACHED",
  "CURSOR_UNKNOWN",
  "PARTNER_UNKNOWN",
  "PARTNER_SUSPENDED",
  "PUBLIC_KEY_UNKNOWN",
  "PUBLIC_KEY_REGISTERED",
  "PUBLIC_KEY_SUBMITTED",
  "POSSESSION_REQUIRED",
  "POSSESSION_REFUSED",
  "PARTNER_REQUIRED",
  "ACCOUNTS_DISABLED",
  "STATEMENT_REQUIRED",
  "STATEMENT_NUMBER",
  "SLOT_TAKEN",
  "CHANGE_PENDING",
  "CHANGE_OBJECTED",
  "CHANGE_UNKNOWN",
  "CHANGE_SUBMITTED",
  "PERSON_UNKNOWN",
  "NAME_TAKEN",
  "LAST_ADMINISTRATOR",
  "STAFF_LIMIT_REACHED",
  "WEBHOOK_UNKNOWN",
  "WEBHOOK_URL_REFUSED",
  "WEBHOOK_LIMIT_REACHED",
  "WEBHOOKS_DISABLED",
  "EVENT_UNKNOWN",
  "PUBLISHER_RUNNING",
  "PUBLISHER_SILENT",
  "RATE_LIMITED",
  "OPERATION_UNKNOWN",
  "METHOD_NOT_ALLOWED",
  "DEFECT",
  "UNAVAILABLE",
] as const;

/** The codes of `keyroot` that the partner service sends. */
const SHARED_CODES = [
  "USER_ID_INVALID",
  "BASE64_INVALID",
  "PUBLIC_KEY_LENGTH",
  "KEY_TYPE_MISMATCH",
  "PUBLIC_KEY_FORMAT",
  "PUBLIC_KEY_NOT_ON_CURVE",
  "PUBLIC_KEY_SMALL_ORDER",
  "PUBLIC_KEY_NOT_PRIME_ORDER",
  "KEY_ID_INVALID",
  "KEY_ID_MISMATCH",
  "JSON_INVALID",
  "JSON_TOO_DEEP",
  "JSON_DUPLICATE_KEY",
  "JSON_FORBIDDEN_TOKEN",
  "ACCOUNT_MISSING",
  "ACCOUNT_INVALID",
  "ACCOUNT_MISMATCH",
  "KEY_STATEMENT_INVALID",
] as const satisfies readonly ErrorCode[];

/** The codes that only the clients throw. */
const OWN_CODES = ["BROWSER_REFUSED", "SERVICE_ERROR", "SERVICE_ANSWER_INVALID", "CHALLENGE_MISMATCH"] as const;

/** All codes that the partner service sends. */
export const SERVICE_CODES: readonly ClientErrorCode[] = [...SHARED_CODES, ...REFUSAL_CODES];

/** The error codes that this package adds to those of `keyroot`. */
export const CLIENT_ERROR_CODES = [...REFUSAL_CODES, ...OWN_CODES] as const;

/** An error code of a client: one of this package, or of `keyroot`. */
export type ClientErrorCode = (typeof CLIENT_ERROR_CODES)[number] | ErrorCode;
