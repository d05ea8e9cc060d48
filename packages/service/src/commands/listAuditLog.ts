import type { AuditEntry } from "@keyroot/client/operator";
import { printable } from "keyroot/internal/input";
import { adminClientOf } from "./adminClient.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import { printEach } from "./lists.ts";
import type { Host } from "@keyroot/operator/commands";
import { ArgumentError } from "../errors.ts";

/** A date, or a date with a time and a time zone (RFC 3339). */
const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{1,3})?(?:Z|[+-]\d\d:\d\d))?$/;

/** The `keyroot list-audit-log` command prints the entries of the audit log as text or JSON lines. */
export default async function listAuditLog(args: ArgsOf<"list-audit-log">, host: Host): Promise<undefined> {
  const { since, until, serviceUrl, json, ...filter } = args;
  const times = { since: toTime("--since", since), until: toTime("--until", until) };
  const admin = await adminClientOf(serviceUrl, host);
  const entries = admin.listAuditLog({ ...filter, ...times, pageSize: 1000 });
  return printEach(entries, json, describe, "There is no such entry.");
}

/** @throws ArgumentError ARGUMENT_INVALID */
function toTime(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = TIME.test(text) ? Date.parse(text) : NaN;
  if (time >= 0) return time;
  const message = `${option} must be a date such as 2027-01-31, or a time such as 2027-01-31T08:00:00Z.`;
  throw new ArgumentError("ARGUMENT_INVALID", message, { actual: text });
}

/** Formats an entry as one line. Removes control characters, because partners choose the names in entries. */
function describe({ at, action, actor, biz_id, user_id, data, request_id, address }: AuditEntry): string {
  const by = [actor.kind, actor.name ?? actor.id].filter((part) => part !== null).join(" ");
  const what = [
    ...[biz_id, user_id].filter((id) => id !== null),
    ...Object.entries(data).map(([name, value]) => `${name}=${JSON.stringify(value)}`),
  ];
  const from = [...(address === null ? [] : [`from ${address}`]), ...(request_id === null ? [] : [`in ${request_id}`])];
  return printable([new Date(at).toISOString(), action, `by ${by}`, ...from, ...what].join("  "));
}
