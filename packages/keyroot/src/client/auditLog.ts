import { userIDToHex, type UserID } from "../identity/userID.ts";
import { checkInteger, checkText, optional } from "../input/options.ts";
import { ANSWER, readUserID } from "./answers.ts";
import { toUserID } from "./options.ts";
import type { ListPage, PageOptions } from "./pages.ts";

/** Which entries of the audit log to list. Default: all. */
export interface ListAuditLogOptions extends PageOptions {
  /** What was done, such as `refreshToken.revoked`. */
  action?: string | undefined;
  /** `service`, `operator`, `person` (of the partner's staff), `partner` (its server) or `user`. */
  actorKind?: string | undefined;
  /** The id of the server's refresh token, the user (zBase32) or the person. */
  actorId?: string | undefined;
  /** The user that was changed: 32 characters of zBase32, or 40 hex digits. */
  userId?: string | undefined;
  /** The earliest time, in ms since 1970. */
  since?: number | undefined;
  /** The first time that is too late, in ms since 1970. */
  until?: number | undefined;
}

/** The names of these options. */
export const AUDIT_FILTER: readonly (keyof ListAuditLogOptions)[] = [
  ...(["action", "actorKind", "actorId", "userId", "since", "until"] as const),
];

/** An entry of the audit log: who changed what, when, and in which request. */
export interface AuditEntry {
  /** A UUID. */
  id: string;
  /** Milliseconds since 1970. */
  at: number;
  /** What was done. A newer service may have more actions. */
  action: string;
  actor: {
    /** `service`, `operator`, `person`, `partner` or `user`. */
    kind: string;
    /** The id of the server's refresh token, the user or the person. */
    id: string | null;
    /** The name of a person. */
    name: string | null;
    /** The id of the refresh token behind the access token. */
    token_id: string | null;
  };
  /** The partner that was changed, or whose user was. */
  biz_id: string | null;
  /** The user that was changed. */
  user_id: UserID | null;
  /** Further ids and values of what was changed. */
  data: Record<string, unknown>;
  /** The id of the request in the service's log. */
  request_id: string | null;
  /** The IP address of the caller. Partners do not get the operator's. */
  address: string | null;
}

/** The filter as fields of the request. @throws ArgumentError ARGUMENT_INVALID, USER_ID_INVALID */
export function auditFilterOf(options: ListAuditLogOptions) {
  const { action, actorKind, actorId, userId, since, until, after } = options;
  const text = (name: string, value: unknown) => optional<unknown>(checkText, `The option ${name}`, value);
  const time = (name: string, value: unknown) => optional<unknown>(checkTime, `The option ${name}`, value);
  return {
    action: text("action", action),
    actor_kind: text("actorKind", actorKind),
    actor_id: text("actorId", actorId),
    user_id_hex: userId === undefined ? undefined : userIDToHex(toUserID(userId)),
    since: time("since", since),
    until: time("until", until),
    after: text("after", after) as string | undefined,
  };
}

export function readAuditPage(answer: unknown, limit: number): ListPage<AuditEntry> {
  const { entries, next } = ANSWER.fields("The answer", answer, ["entries", "next"]);
  return {
    items: ANSWER.list("entries", entries, limit, readEntry),
    next: next === null ? null : ANSWER.text("next", next, /^[\w-]{1,1000}$/),
  };
}

function readEntry(where: string, answer: unknown): AuditEntry {
  const names = ["id", "at", "action", "actor", "biz_id", "user_id", "data", "request_id", "address"] as const;
  const { id, at, action, actor, user_id, data, ...others } = ANSWER.fields(where, answer, names);
  const { kind, ...who } = ANSWER.fields(`${where}.actor`, actor, ["kind", "id", "name", "token_id"]);
  const textOrNull = (name: string, value: unknown) => (value === null ? null : ANSWER.text(`${where}.${name}`, value));
  return {
    id: ANSWER.text(`${where}.id`, id, /^[0-9a-f-]{36}$/),
    at: ANSWER.count(`${where}.at`, at),
    action: ANSWER.text(`${where}.action`, action),
    actor: {
      kind: ANSWER.text(`${where}.actor.kind`, kind),
      id: textOrNull("actor.id", who.id),
      name: textOrNull("actor.name", who.name),
      token_id: textOrNull("actor.token_id", who.token_id),
    },
    biz_id: textOrNull("biz_id", others.biz_id),
    user_id: user_id === null ? null : readUserID(`${where}.user_id`, user_id),
    data: ANSWER.dictionary(`${where}.data`, data),
    request_id: textOrNull("request_id", others.request_id),
    address: textOrNull("address", others.address),
  };
}

function checkTime(what: string, value: unknown): number {
  return checkInteger(what, value, 0, Number.MAX_SAFE_INTEGER);
}
