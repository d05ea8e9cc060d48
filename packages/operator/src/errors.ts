import * as library from "keyroot/internal/errors";

/** The error codes that only this package defines. docs/errors.md explains every code. */
export const OPERATOR_ERROR_CODES = [
  "FILE_NAME",
  "RECORDS_INVALID",
  "NO_RECORDS",
  "FILE_CONFLICT",
  "PLAN_INVALID",
  "PLAN_MISMATCH",
  "KEY_DIFFERS",
  "NOT_OWNER",
  "KEY_FILE_INVALID",
  "TEST_KEY_REFUSED",
  "PASSPHRASE_MISSING",
  "PASSPHRASE_TOO_SHORT",
  "SIGNER_MISMATCH",
  "FEE_TOO_HIGH",
  "COST_LIMIT_REACHED",
  "TRANSACTION_REVERTED",
  "NO_RECEIPT",
  "NOT_FINAL",
  "CONFIGURATION_INVALID",
  "STATE_INVALID",
  "STATE_LOCKED",
  "WEBHOOK_ERROR",
  "FILE_PERMISSIONS",
  "FILE_UNREADABLE",
  "FILE_UNWRITABLE",
  "PORT_UNAVAILABLE",
  "VARIABLE_UNKNOWN",
  "NODE_UNSUPPORTED",
  "PACKAGE_MISSING",
] as const;

/** An error code of this package or of `keyroot`. `@keyroot/client` also has PUBLISHER_RUNNING, which the service sends. */
export type OperatorErrorCode = library.ErrorCode | (typeof OPERATOR_ERROR_CODES)[number] | "PUBLISHER_RUNNING";

// The error classes of `keyroot`, which in this package also accept the package's own codes.
export const ArgumentError = library.ArgumentError<OperatorErrorCode>;
export type ArgumentError = library.ArgumentError<OperatorErrorCode>;
export const VerificationError = library.VerificationError<OperatorErrorCode>;
export type VerificationError = library.VerificationError<OperatorErrorCode>;
export const TransportError = library.TransportError<OperatorErrorCode>;
export type TransportError = library.TransportError<OperatorErrorCode>;

/** Creates the error for an argument that cannot be used. @param message whole sentences */
export function argumentInvalid(message: string, details?: library.ErrorDetails): ArgumentError {
  return new ArgumentError("ARGUMENT_INVALID", message, details);
}
