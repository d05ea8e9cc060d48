import { TransportError } from "../base/errors.ts";

/** The error message for a connection to a standby. */
export const STANDBY_MESSAGE = "The database server is a standby. Connect to the leader.";
/** The messages of node-postgres errors that have no code. */
const MESSAGES =
  /^Connection terminated|^timeout expired|timeout exceeded when trying to connect|^Query read timeout|^Client has encountered a connection error|^Client was closed/;

/**
 * Network errors, and PostgreSQL's error classes 08 (connection), 40 (transaction rollback), 53 (insufficient
 * resources) and 57 (operator intervention). Also PostgreSQL's error 25006: the server is read-only, for example
 * because the leader changed.
 */
const CODES = /^(?:(?:08|40|53|57)[0-9A-Z]{3}|25006)$|^E(?:CONN|HOST|NET|PIPE|TIMEDOUT|NOTFOUND|AI_)/;

/** Whether a query failed for a temporary reason, such as a broken connection or a new leader. */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (let reason = error; reason instanceof Error; reason = reason.cause) {
    const { code, syscall } = reason as { code?: unknown; syscall?: unknown };
    if (typeof code === "string" && CODES.test(code)) return true;
    // A stopped database server has removed the server's Unix socket.
    if (code === "ENOENT" && syscall === "connect") return true;
    if (reason.message === STANDBY_MESSAGE || MESSAGES.test(reason.message)) return true;
    if (reason instanceof AggregateError && reason.errors.some(isDatabaseUnavailable)) return true;
  }
  return false;
}

/** PostgreSQL's error classes 28 (invalid authorization) and 3D (unknown database). */
const REJECTED = /^(?:28|3D)[0-9A-Z]{3}$/;
/** PostgreSQL's error classes 40 and 53, and its error 57014: a query failed on a working connection. */
const FAILED_QUERY = /^(?:40|53)[0-9A-Z]{3}$|^57014$/;

/**
 * Converts the error of a first query to UNREACHABLE if the server rejects the connection, or if there is no
 * connection. Other errors stay unchanged.
 * @param variable the environment variable with the URL of the database
 */
export function toConnectionError(error: unknown, variable: string): unknown {
  for (let reason = error; reason instanceof Error; reason = reason.cause) {
    const { code } = reason as { code?: unknown };
    if (typeof code === "string" && REJECTED.test(code)) {
      const message = `PostgreSQL rejects the connection of ${variable}: ${reason.message}. Run the command as the system user of the service, or correct the URL.`;
      return new TransportError("UNREACHABLE", message, { cause: error });
    }
    if (typeof code === "string" && FAILED_QUERY.test(code)) return error;
    if (!isDatabaseUnavailable(error) || reason.cause instanceof Error) continue;
    const problem = (reason.message || String(code)).replace(/\.$/, "");
    const message = `The database of ${variable} is unavailable: ${problem}. Check the URL, and check that PostgreSQL runs.`;
    return new TransportError("UNREACHABLE", message, { cause: error });
  }
  return error;
}
