/** The error classes of the clients, with the codes of `keyroot` and of this package. */
import { type Advice, type ErrorDetails, KeyrootError, type NotInferred } from "keyroot/internal/errors";
import * as library from "keyroot/internal/errors";
import type { ClientErrorCode } from "./errorCodes.ts";

export { KeyrootError };

/**
 * An error class of `keyroot` that accepts the clients' codes. This type is written out, because the type that
 * TypeScript infers would need Node's types, which web apps do not have.
 */
interface ErrorClass<E, Details> {
  new (code: ClientErrorCode, message: string, details?: Details): E;
  readonly [Symbol.hasInstance]: (value: unknown) => value is E;
}

export const ArgumentError: ErrorClass<
  library.ArgumentError<ClientErrorCode>,
  ErrorDetails
> = library.ArgumentError<ClientErrorCode>;
export type ArgumentError = library.ArgumentError<ClientErrorCode>;

export const TransportError: ErrorClass<
  library.TransportError<ClientErrorCode>,
  library.TransportErrorDetails
> = library.TransportError<ClientErrorCode>;
export type TransportError = library.TransportError<ClientErrorCode>;

/** The advice by code for a ServiceError. The default is `developer`. */
const ADVICE: Readonly<Record<string, Advice>> = {
  PUBLIC_KEY_REGISTERED: "warn",
  PUBLIC_KEY_UNKNOWN: "retry",
  RATE_LIMITED: "retry",
  DEFECT: "retry",
  UNAVAILABLE: "retry",
  SERVICE_ERROR: "retry",
};

/** An invalid field of a request to the partner service. */
export interface FieldError {
  /** The path of the field, such as `user_id_hex`. */
  field: string;
  /** A description of the problem. */
  detail: string;
}

/** The state of the user's existing key. An error about a different key contains this state. */
export interface KeyInError {
  state: "pending" | "submitted" | "published";
  /** The earliest time of publication in ms since 1970, if the state is `pending`. Null until the partner decides. */
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
export class ServiceError<Code extends string = ClientErrorCode> extends KeyrootError<Code> {
  /** @hidden */
  declare static readonly [Symbol.hasInstance]: (value: unknown) => value is ServiceError;
  override get name(): "ServiceError" {
    return "ServiceError";
  }
  override get advice(): Advice {
    return ADVICE[this.code] ?? super.advice;
  }
  /** The HTTP status, 400 to 599. */
  readonly status: number;
  /** The invalid fields of the request. */
  readonly errors: readonly FieldError[] | undefined;
  /** The state of the user's existing key, for the code PUBLIC_KEY_REGISTERED. */
  readonly key: KeyInError | undefined;
  /** The time to wait before the next attempt, in seconds. */
  readonly retryAfter: number | undefined;
  /** The id of the request in the service's logs. Only clients set this field. */
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
