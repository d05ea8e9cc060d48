import type { AuditEntry } from "@keyroot/client/operator";
import { ArgumentError } from "../api/base/errors.ts";

/** A date, or a date with a time and a time zone (RFC 3339). */
const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{1,3})?(?:Z|[+-]\d\d:\d\d))?$/;

/** @throws ArgumentError ARGUMENT_INVALID */
export function toTime(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = TIME.test(text) ? Date.parse(text) : NaN;
  if (time >= 0) return time;
  const message = `${option} must be a date such as 2027-01-31, or a time such as 2027-01-31T08:00:00Z.`;
  throw new ArgumentError("ARGUMENT_INVALID", message, { actual: text });
}

/** Formats an entry as one line. Removes control characters, because partners choose the names in entries. */
export function describeEntry({ at, action, actor, biz_id, user_id, data, request_id, address }: AuditEntry): string {
  const by = [actor.kind, actor.name ?? actor.id].filter((part) => part !== null).join(" ");
  const what = [
    ...[biz_id, user_id].filter((id) => id !== null),
    ...Object.entries(data).map(([name, value]) => `${name}=${JSON.stringify(value)}`),
  ];
  const from = [...(address === null ? [] : [`from ${address}`]), ...(request_id === null ? [] : [`in ${request_id}`])];
  return [new Date(at).toISOString(), action, `by ${by}`, ...from, ...what].join("  ");
}
