import type { BodyOf } from "@keyroot/service";
import { type AuditEntry, call } from "../shared/api.ts";

/** The operations that list the audit log for a partner and for the operator. */
export type AuditPath = "/v1/authdBizSrv/audit/list" | "/v1/admin/audit/list";
export type AuditFilter = Omit<BodyOf<"/v1/authdBizSrv/audit/list">, "limit" | "after">;

/** Maximum number of entries in an export. The browser keeps all exported entries in memory. */
export const MAX_EXPORTED = 50_000;
const PAGE_SIZE = 1000;

/** Fetches at most `MAX_EXPORTED` entries that match a filter. @throws CallError */
export async function fetchEntries(
  path: AuditPath,
  filter: AuditFilter,
): Promise<{ entries: AuditEntry[]; isWhole: boolean }> {
  const entries: AuditEntry[] = [];
  let after: string | null = null;
  do {
    const page: { entries: AuditEntry[]; next: string | null } = await call(path, {
      ...filter,
      limit: Math.min(PAGE_SIZE, MAX_EXPORTED - entries.length),
      ...(after !== null && { after }),
    });
    entries.push(...page.entries);
    after = page.next;
  } while (after !== null && entries.length < MAX_EXPORTED);
  return { entries, isWhole: after === null };
}

/** Converts entries to JSON Lines. Each line is an entry in the API's JSON format. */
export function toJsonLines(entries: readonly AuditEntry[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
}

const COLUMNS = ["time", "action", "actor_kind", "actor_id", "actor_name", "biz_id", "user_id"] as const;
const MORE_COLUMNS = ["request_id", "address", "data"] as const;

/** Converts entries to CSV (RFC 4180). Times are in UTC. */
export function toCsv(entries: readonly AuditEntry[]): string {
  const rows = entries.map(({ at, action, actor, biz_id, user_id, request_id, address, data }) => [
    ...[new Date(at).toISOString(), action, actor.kind, actor.id, actor.name, biz_id, user_id],
    ...[request_id, address, JSON.stringify(data)],
  ]);
  return [[...COLUMNS, ...MORE_COLUMNS], ...rows].map((row) => `${row.map(toCell).join(",")}\r\n`).join("");
}

/**
 * Formats a CSV cell. Adds an apostrophe before a text that begins like a formula, because spreadsheets execute
 * formulas.
 */
function toCell(value: string | null): string {
  const text = /^[=+\-@\t\r]/.test(value ?? "") ? `'${value ?? ""}` : (value ?? "");
  return `"${text.replaceAll('"', '""')}"`;
}
