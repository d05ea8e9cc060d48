/** The error message for a connection to a standby. */
export const STANDBY_MESSAGE = "The database server is a standby. Connect to the leader.";
/** The messages of node-postgres errors that have no code. */
const MESSAGES =
  /^Connection terminated|^timeout expired|timeout exceeded when trying to connect|^Query read timeout|^Client has encountered a connection error|^Client was closed/;

/**
 * Matches network errors, and PostgreSQL's error classes 08 (connection), 40 (transaction rollback), 53 (insufficient
 * resources) and 57 (operator intervention). It also matches error 25006, which a read-only server returns, for example
 * after a change of the leader.
 */
const CODES = /^(?:(?:08|40|53|57)[0-9A-Z]{3}|25006)$|^E(?:CONN|HOST|NET|PIPE|TIMEDOUT|NOTFOUND|AI_)/;

/** Whether a query failed for a temporary reason, such as a broken connection or a new leader. */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (let reason = error; reason instanceof Error; reason = reason.cause) {
    const { code, syscall } = reason as { code?: unknown; syscall?: unknown };
    if (typeof code === "string" && CODES.test(code)) return true;
    // A database server that has stopped has removed its Unix socket.
    if (code === "ENOENT" && syscall === "connect") return true;
    if (reason.message === STANDBY_MESSAGE || MESSAGES.test(reason.message)) return true;
    if (reason instanceof AggregateError && reason.errors.some(isDatabaseUnavailable)) return true;
  }
  return false;
}
