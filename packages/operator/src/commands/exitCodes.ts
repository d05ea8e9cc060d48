import { constants } from "node:os";
import { ArgumentError, KeyrootError, TransportError } from "keyroot/internal/errors";

/** The exit codes of all commands, in the program `keyroot` and in the Hardhat plugin. */
export const EXIT = {
  success: 0,
  /** The checked data is forged, malformed, incomplete or not published. */
  false: 1,
  invalidArguments: 2,
  /** The network or a service is unavailable. */
  unavailable: 3,
} as const;

/** Returns the exit code for an error that ended a command. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof ArgumentError || isRefused(error)) return EXIT.invalidArguments;
  const isUnavailable = error instanceof TransportError || isServiceError(error);
  return error instanceof KeyrootError && !isUnavailable ? EXIT.false : EXIT.unavailable;
}

/**
 * Returns true if the service rejected the request with a 4xx status, except for 429, because a rate limit is
 * temporary.
 */
function isRefused(error: unknown): boolean {
  return isServiceError(error) && error.status < 500 && error.status !== 429;
}

/** Recognizes the errors of `@keyroot/client` by their name, because this package does not need the clients. */
function isServiceError(error: unknown): error is KeyrootError & { status: number } {
  return error instanceof KeyrootError && error.name === "ServiceError";
}

/** Returns the exit code that shells report for a process that a signal ended. */
export function exitCodeOfSignal(signal: keyof typeof constants.signals): number {
  return 128 + constants.signals[signal];
}
