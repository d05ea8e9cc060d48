import type { RepeatedTask } from "../api/base/repeatedTasks.ts";
import { dropExpiredChallenges } from "../keys/challenges.ts";
import { EVENT_DAYS } from "../webhooks/events.ts";
import type { ServiceContext } from "./context.ts";

const MINUTE_MS = 60 * 1000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/**
 * Returns the tasks that delete old data.
 * @param days.auditDays the number of days for which the audit log is kept; 0 keeps all of it
 * @param days.addressDays the number of days for which the audit log keeps callers' IP addresses
 */
export function dropTasks(
  context: ServiceContext,
  { auditDays, addressDays }: { auditDays: number; addressDays: number },
): RepeatedTask[] {
  const { databases, refreshTokens, rateLimits, sessions, auditLog, webhookEndpoints, webhookDeliveries, now } =
    context;
  const dropAddresses = (signal: AbortSignal) => auditLog.dropAddresses(now() - addressDays * DAY_MS, signal);
  const dropEntries = (signal: AbortSignal) => auditLog.drop(now() - auditDays * DAY_MS, signal);
  const tasks: [name: string, intervalMs: number, run: RepeatedTask["run"]][] = [
    ["deleting sealed tokens", HOUR_MS, () => refreshTokens.dropSealed(now())],
    ["deleting expired challenges", HOUR_MS, () => dropExpiredChallenges(databases, now())],
    ["deleting counts of requests", MINUTE_MS, () => rateLimits.dropExpired()],
    ["deleting expired sessions", 10 * MINUTE_MS, () => sessions.dropExpired(now())],
    ["deleting old events", HOUR_MS, () => webhookDeliveries.dropEvents(now() - EVENT_DAYS * DAY_MS)],
    ["deleting ended webhook secrets", HOUR_MS, () => webhookEndpoints.dropEnded(now())],
    ["deleting old IP addresses in the audit log", 10 * MINUTE_MS, dropAddresses],
  ];
  if (auditDays > 0) tasks.push(["deleting old entries of the audit log", 10 * MINUTE_MS, dropEntries]);
  return tasks.map(([name, intervalMs, run]) => ({ name, intervalMs, run }));
}
