import type { AuditEntry } from "../shared/api.ts";
import { timeInCsv, toCsv } from "../../shared/csv.ts";

/** Converts entries to JSON Lines. Each line is an entry in the API's JSON format. */
export function toJsonLines(entries: readonly AuditEntry[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
}

const COLUMNS = ["time", "action", "actor_kind", "actor_id", "actor_name", "biz_id", "user_id"] as const;
const MORE_COLUMNS = ["request_id", "address", "data"] as const;

/** Converts entries to CSV. */
export function entriesToCsv(entries: readonly AuditEntry[]): string {
  const rows = entries.map(({ at, action, actor, biz_id, user_id, request_id, address, data }) => [
    ...[timeInCsv(at), action, actor.kind, actor.id, actor.name, biz_id, user_id],
    ...[request_id, address, JSON.stringify(data)],
  ]);
  return toCsv([...COLUMNS, ...MORE_COLUMNS], rows);
}
