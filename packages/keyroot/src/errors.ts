/**
 * The errors that Keyroot throws deliberately. The class of an error shows how to react to it. Programs may compare
 * `code`, which is stable. The message is for people and may change. docs/errors.md explains every code.
 */

import type { Evidence } from "./evidence.ts";

/** The library's error codes, grouped by subject. `@keyroot/operator` and `@keyroot/service` have additional codes. */
export const ERROR_CODES = [
  // Errors about user ids, public keys and records.
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
  // Errors about JSON.
  "JSON_INVALID",
  "JSON_TOO_DEEP",
  "JSON_TOO_MANY_VALUES",
  "JSON_DUPLICATE_KEY",
  "JSON_FORBIDDEN_TOKEN",
  // Errors about Merkle trees.
  "TREE_EMPTY",
  "TREE_TOO_LARGE",
  "HASH_INVALID",
  "HASH_NOT_LOWERCASE",
  // Errors about Merkle files.
  "FILE_TOO_LARGE",
  "FILE_NOT_UTF8",
  "FILE_SHAPE",
  "FILE_UNKNOWN_KEY",
  "FILE_HASH_ALGORITHM",
  "VALUE_LOOKS_LIKE_NODE",
  "DUPLICATE_VALUE",
  "DUPLICATE_USER",
  "LOOKUP_MISMATCH",
  "TREE_MISMATCH",
  "ROOT_MISMATCH",
  // Errors about proofs and bundles.
  "PROOF_SHAPE",
  "BUNDLE_SHAPE",
  "USER_MISMATCH",
  // Errors about safety codes.
  "SAFETY_CODE_INVALID",
  "SAFETY_CODE_MISMATCH",
  // Errors about the chain and the evidence for an answer.
  "UNANCHORED",
  "HEADER_INVALID",
  "HEADER_MISMATCH",
  "STALE_BLOCK",
  "FUTURE_BLOCK",
  "QUORUM_NOT_REACHED",
  "SOURCE_NOT_IMPORTED",
  "LIGHT_CLIENT_INVALID",
  "CHECKPOINT_TOO_OLD",
  "FORK_UNKNOWN",
  "BEACON_ERROR",
  "BEACON_ANSWER_INVALID",
  "AUDITOR_KEY_INVALID",
  "AUDITORS_NOT_REACHED",
  "STATEMENT_INVALID",
  "STATEMENT_TOO_OLD",
  "STATEMENT_CONFLICT",
  "STATEMENT_TREE_MISMATCH",
  "PROOF_INVALID",
  "CHAIN_ID_MISMATCH",
  "CONTRACT_MISMATCH",
  "NO_CONTRACT",
  "NO_USER_COUNT",
  "CODE_HASH_MISMATCH",
  "NOT_PUBLISHED",
  "EQUIVOCATION",
  "USER_NOT_IN_FILE",
  "KEY_MISMATCH",
  // Errors about requests that the partner service rejects.
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
  "RATE_LIMITED",
  "OPERATION_UNKNOWN",
  "METHOD_NOT_ALLOWED",
  "DEFECT",
  "UNAVAILABLE",
  // Errors about arguments, the platform and the network.
  "ARGUMENT_INVALID",
  "BROWSER_REFUSED",
  "BUILTIN_REPLACED",
  "ENVIRONMENT_UNSUPPORTED",
  "SHA256_INVALID",
  "STORE_UNAVAILABLE",
  "UNREACHABLE",
  "RPC_ERROR",
  "RPC_ANSWER_INVALID",
  "SERVICE_ERROR",
  "SERVICE_ANSWER_INVALID",
  "CHALLENGE_MISMATCH",
  "FILE_HOST_ERROR",
  "FILE_NOT_FOUND",
  "REDIRECT_REFUSED",
  "ANSWER_TOO_LARGE",
  "TIMEOUT",
  "ABORTED",
] as const;

/** A stable error code, one of `ERROR_CODES`. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/**
 * The recommended reaction to an error:
 * - `warn`: warn the user, because an attack is possible;
 * - `wait`: wait, because it is proven that the key is not published yet;
 * - `developer`: correct the call or the options;
 * - `retry`: try again later.
 *
 * The app must not use the key in any of these cases.
 */
export type Advice = "warn" | "wait" | "developer" | "retry";

/**
 * The advice for all errors except VerificationError, whose advice is `warn`. The keys are error codes and class names.
 * A code comes before a class. The default is `developer`. Verifiers change some advice (verifier/advice.ts).
 */
const ADVICE: Readonly<Record<string, Advice>> = {
  // Errors about data that a server sent.
  PUBLIC_KEY_LENGTH: "warn",
  PUBLIC_KEY_FORMAT: "warn",
  PUBLIC_KEY_NOT_ON_CURVE: "warn",
  PUBLIC_KEY_SMALL_ORDER: "warn",
  PUBLIC_KEY_NOT_PRIME_ORDER: "warn",
  PUBLIC_KEY_REGISTERED: "warn",
  BASE64_INVALID: "warn",
  KEY_ID_INVALID: "warn",
  KEY_ID_MISMATCH: "warn",
  CHALLENGE_MISMATCH: "warn",
  SERVICE_ANSWER_INVALID: "warn",
  PUBLIC_KEY_UNKNOWN: "retry",
  RATE_LIMITED: "retry",
  DEFECT: "retry",
  UNAVAILABLE: "retry",
  SERVICE_ERROR: "retry",
  TransportError: "retry",
};

const ERRORS_PAGE = "https://github.com/keyroot/keyroot/blob/main/docs/errors.md";

/** The optional fields of every error. */
export interface ErrorDetails extends ErrorOptions {
  expected?: unknown;
  actual?: unknown;
}

/**
 * The type of an error code, which TypeScript checks but does not infer from the argument. `NoInfer` would need
 * TypeScript 5.4.
 */
type NotInferred<Code extends string> = [Code][Code extends unknown ? 0 : never];

/**
 * The base class of all errors.
 * @typeParam Code the codes that a caller of the constructor may pass. Each package has one union of codes.
 * @example
 * try {
 *   await verifyPublicKey(userID, options);
 * } catch (error) {
 *   if (error instanceof KeyrootError) console.error(error.code, error.message, error.docs);
 * }
 */
export abstract class KeyrootError<Code extends string = ErrorCode> extends Error {
  // Declares a type only. Without this line, `instanceof` narrows to KeyrootError<any>. The classes below repeat it for
  // the same reason.
  /** @hidden */
  declare static readonly [Symbol.hasInstance]: (value: unknown) => value is KeyrootError;
  /** The error code, as docs/errors.md lists it. Other packages add their own codes. */
  readonly code: ErrorCode | (string & {});
  /** The expected value, for errors about a wrong value. */
  readonly expected: unknown;
  /** The actual value, for errors about a wrong value. */
  readonly actual: unknown;

  constructor(code: NotInferred<Code>, message: string, { expected, actual, ...options }: ErrorDetails = {}) {
    super(message, options);
    // JavaScript engines before ES2022 ignore the option `cause`.
    if ("cause" in options && !("cause" in this)) (this as Error).cause = options.cause;
    this.code = code;
    this.expected = expected;
    this.actual = actual;
  }

  /** The recommended reaction to this error. The app must not use the key in any case. */
  get advice(): Advice {
    return this.name === "VerificationError" ? "warn" : (ADVICE[this.code] ?? ADVICE[this.name] ?? "developer");
  }

  /** The URL of the documentation of this error code. */
  get docs(): string {
    return `${ERRORS_PAGE}#${this.code}`;
  }
}

/** An argument is invalid, such as a malformed id or an option that is out of range. Correct the call. */
export class ArgumentError<Code extends string = ErrorCode> extends KeyrootError<Code> {
  /** @hidden */
  declare static readonly [Symbol.hasInstance]: (value: unknown) => value is ArgumentError;
  override get name(): "ArgumentError" {
    return "ArgumentError";
  }
}

/** The steps of a verification, in order (docs/specification.md, "Public-key verification procedure"). */
export type VerificationStep = "anchor" | "root" | "file" | "tree" | "record" | "key";

/** The verified data is false: it is forged, malformed, incomplete or not published. Do not use the key. */
export class VerificationError<Code extends string = ErrorCode> extends KeyrootError<Code> {
  /** @hidden */
  declare static readonly [Symbol.hasInstance]: (value: unknown) => value is VerificationError;
  override get name(): "VerificationError" {
    return "VerificationError";
  }
  /** The step of the verification that failed. */
  readonly step: VerificationStep;
  /** The evidence for an error about the chain, such as NOT_PUBLISHED. It limits how reliable the error is. */
  readonly evidence: Evidence | undefined;

  constructor(
    step: VerificationStep,
    code: NotInferred<Code>,
    message: string,
    { evidence, ...details }: ErrorDetails & { evidence?: Evidence } = {},
  ) {
    super(code, message, details);
    this.step = step;
    this.evidence = evidence;
  }
}

/** The network or a service failed, so nothing was verified or refuted. A later attempt may succeed. */
export class TransportError<Code extends string = ErrorCode> extends KeyrootError<Code> {
  /** @hidden */
  declare static readonly [Symbol.hasInstance]: (value: unknown) => value is TransportError;
  override get name(): "TransportError" {
    return "TransportError";
  }
}

/** The platform lacks a necessary feature, which the message names. Nothing was verified or refuted. */
export class EnvironmentError<Code extends string = ErrorCode> extends KeyrootError<Code> {
  /** @hidden */
  declare static readonly [Symbol.hasInstance]: (value: unknown) => value is EnvironmentError;
  override get name(): "EnvironmentError" {
    return "EnvironmentError";
  }
}

/** An invalid field of a request to the partner service. */
export interface FieldError {
  /** The path of the field, such as `user_id_hex`. */
  field: string;
  /** A description of the problem. */
  detail: string;
}

/** The state of the user's existing key, in an error about a different key. */
export interface KeyInError {
  state: "pending" | "submitted" | "published";
  /** The earliest time of publication in ms since 1970, for the state `pending`. Null until the partner decides. */
  holdEndsAt?: number | null;
}

/** The optional fields of a ServiceError. */
export interface ServiceErrorDetails extends ErrorDetails {
  key?: KeyInError | undefined;
  errors?: readonly FieldError[] | undefined;
  retryAfter?: number | undefined;
  requestID?: string | undefined;
}

/** The partner service rejected a request (RFC 9457, problem details). */
export class ServiceError<Code extends string = ErrorCode> extends KeyrootError<Code> {
  /** @hidden */
  declare static readonly [Symbol.hasInstance]: (value: unknown) => value is ServiceError;
  override get name(): "ServiceError" {
    return "ServiceError";
  }
  /** The HTTP status, 400 to 599. */
  readonly status: number;
  /** The invalid fields of the request. */
  readonly errors: readonly FieldError[] | undefined;
  /** The state of the user's existing key, for the code PUBLIC_KEY_REGISTERED. */
  readonly key: KeyInError | undefined;
  /** The time to wait before the next attempt, in seconds. */
  readonly retryAfter: number | undefined;
  /** The id of the request in the service's logs. Only clients set it. */
  readonly requestID: string | undefined;

  constructor(
    status: number,
    code: NotInferred<Code>,
    message: string,
    { errors, key, retryAfter, requestID, ...details }: ServiceErrorDetails = {},
  ) {
    super(code, message, details);
    this.status = status;
    this.errors = errors;
    this.key = key;
    this.retryAfter = retryAfter;
    this.requestID = requestID;
  }
}
