import { constants } from "node:os";
import { ArgumentError, KeyrootError, ServiceError, TransportError } from "keyroot/errors";

/** The exit codes of every command, in both hosts. */
export const EXIT = {
  success: 0,
  /** The checked statement is false: forged, malformed, incomplete, not published. */
  false: 1,
  invalidArguments: 2,
  /** Network or service unavailable. */
  unavailable: 3,
} as const;

/** The exit code of a command that failed with this error. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof ArgumentError || isRefused(error)) return EXIT.invalidArguments;
  const isUnavailable = error instanceof TransportError || error instanceof ServiceError;
  return error instanceof KeyrootError && !isUnavailable ? EXIT.false : EXIT.unavailable;
}

/** True if the service refused the request itself (4xx). A limited rate (429) is temporary and does not count. */
function isRefused(error: unknown): boolean {
  return error instanceof ServiceError && error.status < 500 && error.status !== 429;
}

/** The exit code that shells report for a process that a signal ended. */
export function exitCodeOfSignal(signal: keyof typeof constants.signals): number {
  return 128 + constants.signals[signal];
}
