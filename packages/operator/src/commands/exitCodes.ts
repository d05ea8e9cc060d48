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

export function exitCodeOf(error: unknown): number {
  if (error instanceof ArgumentError) return EXIT.invalidArguments;
  if (!(error instanceof KeyrootError) || error instanceof TransportError) return EXIT.unavailable;
  if (!isServiceError(error)) return EXIT.false;
  // A rate limit (429) is temporary.
  return error.status < 500 && error.status !== 429 ? EXIT.invalidArguments : EXIT.unavailable;
}

/** Recognizes the errors of `@keyroot/client` by their name, because this package does not need the clients. */
function isServiceError(error: KeyrootError): error is KeyrootError & { status: number } {
  return error.name === "ServiceError";
}

/** Returns the exit code that shells report for a process that a signal ended. */
export function exitCodeOfSignal(signal: keyof typeof constants.signals): number {
  return 128 + constants.signals[signal];
}
