import * as client from "@keyroot/client/internal";
import type { OperatorErrorCode } from "@keyroot/operator/shared";
import * as library from "keyroot/internal/errors";

/** The error codes that this package adds. docs/errors.md explains all codes. */
export const SERVICE_ERROR_CODES = [
  "SESSION_REQUIRED",
  "INVITATION_REFUSED",
  "PASSKEY_REFUSED",
  "PASSKEY_REQUIRED",
  "PASSKEY_UNKNOWN",
  "PASSKEY_LIMIT_REACHED",
  "LAST_PASSKEY",
  "VERIFICATION_REQUIRED",
  "ORIGIN_REFUSED",
  "ROLE_REFUSED",
  "SCHEMA_OUTDATED",
  "DATABASE_LOCKED",
] as const;

/** An error code of this package, the clients, the operator package or the library. */
export type ServiceErrorCode = client.ClientErrorCode | OperatorErrorCode | (typeof SERVICE_ERROR_CODES)[number];

// The library's error classes with types that also accept this package's codes.
export const ArgumentError = library.ArgumentError<ServiceErrorCode>;
export type ArgumentError = library.ArgumentError<ServiceErrorCode>;
export const TransportError = library.TransportError<ServiceErrorCode>;
export type TransportError = library.TransportError<ServiceErrorCode>;
export const ServiceError = client.ServiceError<ServiceErrorCode>;
export type ServiceError = client.ServiceError<ServiceErrorCode>;
