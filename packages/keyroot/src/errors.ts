/**
 * The errors that Keyroot throws on purpose. An error's class shows how to react to it. Programs can rely on the
 * `code`, but the `message` is written for people and may change. docs/errors.md explains every code.
 */

import type { ErrorCode } from "./errorCodes.ts";
import type { Evidence } from "./evidence.ts";

export { ERROR_CODES, type ErrorCode } from "./errorCodes.ts";

/**
 * The recommended reaction to an error (docs/errors.md, "Advice"). Whatever the advice is, the app must not use the key
 * after an error. The values mean:
 * - `warn`: warn the user, because an attack is possible.
 * - `wait`: show the key as not confirmed yet, because the user is new and the key is not published yet.
 * - `developer`: correct the call or the options.
 * - `retry`: try again later, or with the right safety code.
 * - `none`: do nothing, because the app aborted the call.
 */
export type Advice = "warn" | "wait" | "developer" | "retry" | "none";

/**
 * The advice for each error code or class name. A code takes precedence over a class, and the default is `developer`.
 * VerificationError is not in the table, because its advice is `warn` for every code. For some errors, a verifier
 * (verifier/milderAdvice.ts) or `verifySafetyPayload` replaces `warn` with milder advice.
 */
const ADVICE: Readonly<Record<string, Advice>> = {
  // Errors about data that a server sent.
  PUBLIC_KEY_LENGTH: "warn",
  PUBLIC_KEY_FORMAT: "warn",
  PUBLIC_KEY_NOT_ON_CURVE: "warn",
  PUBLIC_KEY_SMALL_ORDER: "warn",
  PUBLIC_KEY_NOT_PRIME_ORDER: "warn",
  BASE64_INVALID: "warn",
  KEY_ID_INVALID: "warn",
  KEY_ID_MISMATCH: "warn",
  // Errors of `@keyroot/client` about the service's answers.
  CHALLENGE_MISMATCH: "warn",
  SERVICE_ANSWER_INVALID: "warn",
  FILE_IS_HTML: "developer",
  ABORTED: "none",
  TransportError: "retry",
};

const ERRORS_PAGE = "https://github.com/keyroot/keyroot/blob/main/docs/errors.md";

/** The optional fields of every error. */
export interface ErrorDetails {
  /** The error that caused this one. */
  cause?: unknown;
  expected?: unknown;
  actual?: unknown;
}

/**
 * An error-code type that TypeScript does not infer from the argument. It replaces `NoInfer`, which needs TypeScript
 * 5.4.
 */
export type NotInferred<Code extends string> = [Code][Code extends unknown ? 0 : never];

/**
 * The base class of all errors that Keyroot throws.
 * @typeParam Code the error codes that the constructor accepts. Each package has one union of codes.
 * @example
 * try {
 *   await verifier.verify(userID, { expectedPublicKey });
 * } catch (error) {
 *   if (error instanceof KeyrootError) console.error(error.code, error.message, error.docs);
 * }
 */
export abstract class KeyrootError<Code extends string = ErrorCode> extends Error {
  // Declares only a type. Without this line, which all subclasses repeat, `instanceof` narrows to KeyrootError<any>.
  /** @hidden */
  declare static readonly [Symbol.hasInstance]: (value: unknown) => value is KeyrootError;
  /** The error code, which docs/errors.md explains. */
  readonly code: ErrorCode | (string & {});
  /** The expected value, for errors about a wrong value. */
  readonly expected: unknown;
  /** The actual value, for errors about a wrong value. */
  readonly actual: unknown;

  constructor(code: NotInferred<Code>, message: string, { expected, actual, ...options }: ErrorDetails = {}) {
    super(message, options);
    // JavaScript engines before ES2022 ignore the `cause` option.
    if ("cause" in options && !("cause" in this)) (this as Error).cause = options.cause;
    this.code = code;
    this.expected = expected;
    this.actual = actual;
  }

  /** The recommended reaction to this error. After any error, the app must not use the key. */
  get advice(): Advice {
    return this.name === "VerificationError" ? "warn" : (ADVICE[this.code] ?? ADVICE[this.name] ?? "developer");
  }

  /**
   * Returns the error's fields, except for its cause, as JSON values for `JSON.stringify`. To send an error from a
   * worker to the page, post this object. A structured clone of the error itself would lose the code.
   */
  toJSON(): object {
    const { name, code, message, advice, docs } = this;
    const always = { name, code, message, advice, docs };
    try {
      const fields: object = Object.assign({}, this, always, { cause: undefined });
      return JSON.parse(
        JSON.stringify(fields, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)),
      ) as object;
    } catch {
      // An invalid argument can be any object, such as one with a cycle.
      return always;
    }
  }

  /** The URL of this error code's documentation. */
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

/** The data is forged, malformed, incomplete or not published, so the key must not be used. */
export class VerificationError<Code extends string = ErrorCode> extends KeyrootError<Code> {
  /** @hidden */
  declare static readonly [Symbol.hasInstance]: (value: unknown) => value is VerificationError;
  override get name(): "VerificationError" {
    return "VerificationError";
  }
  /** The step of the verification that failed. */
  readonly step: VerificationStep;
  /**
   * The evidence for an error about the chain, such as NOT_PUBLISHED. The error is only as reliable as this evidence.
   */
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

/** The optional fields of a TransportError. */
export interface TransportErrorDetails extends ErrorDetails {
  status?: number | undefined;
  retryAfter?: number | undefined;
  reason?: string | undefined;
}

/**
 * The network or a service failed, so the call neither verified nor refuted anything. A later attempt may succeed. If
 * the app aborted the call, the error's code is ABORTED, and its name is AbortError, as for the platform's own
 * functions.
 */
export class TransportError<Code extends string = ErrorCode> extends KeyrootError<Code> {
  /** @hidden */
  declare static readonly [Symbol.hasInstance]: (value: unknown) => value is TransportError;
  override get name(): "TransportError" | "AbortError" {
    return this.code === "ABORTED" ? "AbortError" : "TransportError";
  }
  /**
   * The HTTP status of the response. Undefined if there was no response, or if its status is not visible, for example
   * because the request went through a provider.
   */
  readonly status: number | undefined;
  /** The time in seconds that the host asks to wait before the next attempt (Retry-After). */
  readonly retryAfter: number | undefined;
  /** The message in a JSON-RPC endpoint's error, without addresses. It is untrusted, and not shortened. */
  readonly reason: string | undefined;

  constructor(
    code: NotInferred<Code>,
    message: string,
    { status, retryAfter, reason, ...details }: TransportErrorDetails = {},
  ) {
    super(code, message, details);
    this.status = status;
    this.retryAfter = retryAfter;
    this.reason = reason;
  }
}

/** The platform lacks a required feature, which the message names. The call neither verified nor refuted anything. */
export class EnvironmentError<Code extends string = ErrorCode> extends KeyrootError<Code> {
  /** @hidden */
  declare static readonly [Symbol.hasInstance]: (value: unknown) => value is EnvironmentError;
  override get name(): "EnvironmentError" {
    return "EnvironmentError";
  }
}
