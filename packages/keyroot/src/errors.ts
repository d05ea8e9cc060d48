/**
 * Every error that Keyroot throws on purpose. The class says whose fault it is, `code` says what is wrong and never
 * changes its meaning, the message is for people and may. docs/errors.md explains every code.
 */

import type { Evidence } from "./evidence.ts";

/** The codes, in the order in which data flows: identity, tree, file, chain, evidence, publishing, the outer world. */
export const ERROR_CODES = [
  // identity
  "USER_ID_INVALID",
  "IDENTIFIER_INVALID",
  "SECRET_TOO_SHORT",
  "BASE64_INVALID",
  "PUBLIC_KEY_LENGTH",
  "PUBLIC_KEY_FORMAT",
  "PUBLIC_KEY_NOT_ON_CURVE",
  "PUBLIC_KEY_SMALL_ORDER",
  "PUBLIC_KEY_NOT_PRIME_ORDER",
  "KEY_ID_INVALID",
  "KEY_ID_MISMATCH",
  "RECORD_INVALID",
  // JSON from outside
  "JSON_INVALID",
  "JSON_TOO_DEEP",
  "JSON_DUPLICATE_KEY",
  "JSON_FORBIDDEN_TOKEN",
  // tree
  "TREE_EMPTY",
  "TREE_TOO_LARGE",
  "HASH_INVALID",
  "HASH_NOT_LOWERCASE",
  // file
  "FILE_TOO_LARGE",
  "FILE_NOT_UTF8",
  "FILE_NAME",
  "FILE_SHAPE",
  "FILE_UNKNOWN_KEY",
  "FILE_HASH_ALGORITHM",
  "VALUE_LOOKS_LIKE_NODE",
  "DUPLICATE_VALUE",
  "DUPLICATE_USER",
  "LOOKUP_MISMATCH",
  "TREE_MISMATCH",
  "ROOT_MISMATCH",
  // compact proof and bundle
  "PROOF_SHAPE",
  "BUNDLE_SHAPE",
  "USER_MISMATCH",
  // chain and evidence
  "UNANCHORED",
  "HEADER_INVALID",
  "HEADER_MISMATCH",
  "STALE_BLOCK",
  "QUORUM_NOT_REACHED",
  "PROOF_INVALID",
  "CHAIN_ID_MISMATCH",
  "CONTRACT_MISMATCH",
  "NO_CONTRACT",
  "CODE_HASH_MISMATCH",
  "NOT_PUBLISHED",
  "EQUIVOCATION",
  "USER_NOT_IN_FILE",
  "KEY_MISMATCH",
  // publishing
  "RECORDS_INVALID",
  "NO_RECORDS",
  "FILE_CONFLICT",
  "PLAN_INVALID",
  "PLAN_MISMATCH",
  "PUBLISHER_RUNNING",
  "NOT_OWNER",
  "KEY_FILE_INVALID",
  "PASSPHRASE_MISSING",
  "SIGNER_MISMATCH",
  "FEE_TOO_HIGH",
  "TRANSACTION_REVERTED",
  "NO_RECEIPT",
  "NOT_FINAL",
  // the partner service
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
  "TOKEN_UNKNOWN",
  "PARTNER_UNKNOWN",
  "PUBLIC_KEY_UNKNOWN",
  "PUBLIC_KEY_REGISTERED",
  "RATE_LIMITED",
  "OPERATION_UNKNOWN",
  "METHOD_NOT_ALLOWED",
  "DEFECT",
  "UNAVAILABLE",
  "CONFIGURATION_INVALID",
  "SCHEMA_OUTDATED",
  "DATABASE_LOCKED",
  // auditing
  "STATE_INVALID",
  "WEBHOOK_ERROR",
  // the story
  "DEMO_FAILED",
  // the outer world
  "ARGUMENT_INVALID",
  "BROWSER_REFUSED",
  "FILE_UNREADABLE",
  "FILE_UNWRITABLE",
  "PORT_UNAVAILABLE",
  "UNREACHABLE",
  "RPC_ERROR",
  "RPC_ANSWER_INVALID",
  "SERVICE_ERROR",
  "SERVICE_ANSWER_INVALID",
  "FILE_HOST_ERROR",
  "FILE_NOT_FOUND",
  "REDIRECT_REFUSED",
  "ANSWER_TOO_LARGE",
  "TIMEOUT",
  "ABORTED",
] as const;

/** A stable name for what is wrong. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/** What an error carries beside code and message. */
export interface ErrorDetails extends ErrorOptions {
  /** What should have been there. */
  expected?: unknown;
  /** What was there. */
  actual?: unknown;
}

/** The base of all errors below; never thrown itself. */
export abstract class KeyrootError extends Error {
  readonly code: ErrorCode;
  readonly expected: unknown;
  readonly actual: unknown;

  constructor(code: ErrorCode, message: string, { expected, actual, ...options }: ErrorDetails = {}) {
    super(message, options);
    this.code = code;
    this.expected = expected;
    this.actual = actual;
  }
}

/** The caller handed over something unusable: a malformed id, an option out of range. */
export class ArgumentError extends KeyrootError {
  override readonly name = "ArgumentError";
}

/** Something that must hold in Keyroot itself does not: a defect. */
export class InvariantError extends KeyrootError {
  override readonly name = "InvariantError";
}

/** The steps of a verification, in their order (specification, "Public-key verification procedure"). */
export type VerificationStep = "anchor" | "root" | "file" | "tree" | "record" | "key";

/** What was asked about is false: forged, malformed, incomplete or not published. The key must not be used. */
export class VerificationError extends KeyrootError {
  override readonly name = "VerificationError";
  readonly step: VerificationStep;
  /** What the verdict rests on, where it is one about the chain: "not published" is worth no more than this. */
  readonly evidence: Evidence | undefined;

  constructor(
    step: VerificationStep,
    code: ErrorCode,
    message: string,
    { evidence, ...details }: ErrorDetails & { evidence?: Evidence } = {},
  ) {
    super(code, message, details);
    this.step = step;
    this.evidence = evidence;
  }
}

/** The outer world did not answer, or not in a form that can be judged. Nothing is known; trying again may help. */
export class TransportError extends KeyrootError {
  override readonly name = "TransportError";
}

/** A field of a request that is not as it should be. */
export interface FieldError {
  /** Its path, as in `user_id_hex`. */
  field: string;
  detail: string;
}

/** What a refusal of the partner service carries beside status, code and message. */
export interface ServiceErrorDetails extends ErrorDetails {
  errors?: readonly FieldError[] | undefined;
  retryAfter?: number | undefined;
  requestId?: string | undefined;
}

/** The partner service refuses a request, as RFC 9457 describes a problem. */
export class ServiceError extends KeyrootError {
  override readonly name = "ServiceError";
  /** The HTTP status, 400 to 599. */
  readonly status: number;
  /** Each field that is not as it should be. */
  readonly errors: readonly FieldError[] | undefined;
  /** How long to wait before the next try, in seconds. */
  readonly retryAfter: number | undefined;
  /** What the service calls this request, to find it in its logs; only a client knows it. */
  readonly requestId: string | undefined;

  constructor(
    status: number,
    code: ErrorCode,
    message: string,
    { errors, retryAfter, requestId, ...details }: ServiceErrorDetails = {},
  ) {
    super(code, message, details);
    this.status = status;
    this.errors = errors;
    this.retryAfter = retryAfter;
    this.requestId = requestId;
  }
}

/**
 * Runs `check` on data from outside: what a parser calls a bad argument is, in a file or an answer, a failed
 * verification. The code stays.
 */
export function verifying<T>(step: VerificationStep, where: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    const { code, message, expected, actual } = error;
    throw new VerificationError(step, code, `${where}: ${message}`, { expected, actual, cause: error });
  }
}
