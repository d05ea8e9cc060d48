import { userIDToHex } from "keyroot/internal/formats";
import { checkInteger, checkText, optional } from "keyroot/internal/input";
import { auditEntry } from "./answerChecks.ts";
import { toUserID } from "./options.ts";
import { page, type PageOptions } from "./pages.ts";

/** A filter for entries of the audit log. The default is all entries. */
export interface ListAuditLogOptions extends PageOptions {
  /** The kind of change, such as `refreshToken.revoked`. */
  action?: string | undefined;
  /**
   * Who made the change: `service`, `operator`, `person`, `partner` or `user`. `person` means one of the partner's
   * staff, and `partner` the partner's server.
   */
  actorKind?: string | undefined;
  /** The id of the person, the user (zBase32) or the server's refresh token that made the change. */
  actorID?: string | undefined;
  /** The id of the user whose data changed: 32 characters of zBase32, or 40 hex digits. */
  userID?: string | undefined;
  /** The earliest time of a change, in ms since 1970. */
  since?: number | undefined;
  /** The end of the time range, in ms since 1970. Only earlier changes are listed. */
  until?: number | undefined;
}

/** The names of the audit log's filter options. */
export const AUDIT_FILTER: readonly (keyof ListAuditLogOptions)[] = [
  ...(["action", "actorKind", "actorID", "userID", "since", "until"] as const),
];

/** Converts the filter options to fields of the request. @throws ArgumentError ARGUMENT_INVALID, USER_ID_INVALID */
export function auditFilterOf(options: ListAuditLogOptions) {
  const { action, actorKind, actorID, userID, since, until, after } = options;
  const text = (name: string, value: unknown) => optional<unknown>(checkText, `The ${name} option`, value);
  const time = (name: string, value: unknown) => optional<unknown>(checkTime, `The ${name} option`, value);
  return {
    action: text("action", action),
    actor_kind: text("actorKind", actorKind),
    actor_id: text("actorID", actorID),
    user_id_hex: userID === undefined ? undefined : userIDToHex(toUserID(userID)),
    since: time("since", since),
    until: time("until", until),
    after: text("after", after) as string | undefined,
  };
}

/** Checks a page of the audit log. @throws TransportError SERVICE_ANSWER_INVALID */
export const readAuditPage = page("entries", auditEntry);

function checkTime(what: string, value: unknown): number {
  return checkInteger(what, value, 0, Number.MAX_SAFE_INTEGER);
}
