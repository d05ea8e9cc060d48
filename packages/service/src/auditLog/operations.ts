import { z } from "zod";
import { answerFrom } from "../api/answerFrom.ts";
import type { ApiContext } from "../api/context.ts";
import { operationsWith } from "../api/defineOperation.ts";
import {
  bizID,
  cursor,
  data,
  limit,
  named,
  nullableText,
  page,
  strict,
  timestamp,
  userID,
  userIDHex,
  userIDOf,
} from "../api/fields.ts";
import { decodeCursor, encodeCursor } from "../api/database/cursor.ts";
import { type AuditEntry, type AuditLog, auditCursorSchema, type AuditFilter } from "./readAuditLog.ts";
import { ACTIONS } from "./recordChange.ts";
import { ACTOR_KINDS } from "../api/base/author.ts";

const filter = {
  action: z.enum(ACTIONS).optional().meta({ description: "List only entries with this action." }),
  actor_kind: z.enum(ACTOR_KINDS).optional().meta({ description: "List only changes by actors of this kind." }),
  actor_id: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,64}$/)
    .optional()
    .meta({
      description:
        "List only changes by the server token, user or person with this id. For a user, this is the `user_id`.",
    }),
  user_id: userID
    .optional()
    .meta({ description: "List only changes to this user. The id has 32 characters of zBase32." }),
  user_id_hex: userIDHex.optional().meta({ description: "List only changes to this user. The id has 40 hex digits." }),
  since: timestamp.optional().meta({ description: "List only entries at or after this time." }),
  until: timestamp.optional().meta({ description: "List only entries before this time." }),
  limit,
  after: cursor
    .optional()
    .meta({ description: "The `next` of the previous page. Without it, the list begins with the first page." }),
};
const filterSchema = strict(filter);
const entry = named("AuditEntry", "An entry of the audit log.", {
  id: z.uuid().meta({ description: "The id of the entry." }),
  at: timestamp,
  action: z
    .string()
    .meta({ description: `The kind of change, one of: ${ACTIONS.join(", ")}.`, example: "user.created" }),
  actor: strict({
    kind: z
      .string()
      .meta({ description: `The kind of author, one of: ${ACTOR_KINDS.join(", ")}.`, example: "partner" }),
    id: nullableText("The id of the server token, the user or the person"),
    name: nullableText("The name of a person"),
    token_id: nullableText("The id of the refresh token or server token from which the access token came"),
  }),
  biz_id: nullableText("The partner that the change concerns"),
  user_id: nullableText("The user that the change concerns"),
  data: data.meta({ description: "Additional ids and values of the change, without secrets." }),
  request_id: nullableText("The id of the request in the service's log"),
  address: nullableText("The IP address of the caller"),
});
const entries = page("entries", entry, cursor);

type Body = z.output<typeof filterSchema>;

export interface AuditContext extends ApiContext {
  auditLog: AuditLog;
  /** Finds the people who are or were on a partner's staff. */
  staff: { ofPartner: (bizID: string, personIDs: readonly string[]) => Promise<ReadonlySet<string>> };
}

const defineOperation = operationsWith<AuditContext>();

export const auditOperations = [
  defineOperation({
    path: "/v1/authdBizSrv/audit/list",
    callers: ["partner", "partnerStaff"],
    reads: true,
    summary: "List the partner's audit log entries in pages, newest first",
    description:
      "An entry contains the author, time and request of a change to the partner or one of its users. A page may have fewer entries than `limit` even if `next` is not null, because one request reads at most 10,000 entries of each database. Entries do not contain the names and addresses of the operator's staff.",
    body: filterSchema,
    answer: entries,
    async handle(body, { context, principal: { bizID } }) {
      const page = await list(context, { ...filterOf(body), bizID }, body);
      const people = page.entries.flatMap(({ actorKind, actorID }) => (actorKind === "person" ? (actorID ?? []) : []));
      const own = await context.staff.ofPartner(bizID, [...new Set(people)]);
      return { ...page, entries: page.entries.map((entry) => toEntry(forPartner(entry, own))) };
    },
  }),

  defineOperation({
    path: "/v1/admin/audit/list",
    callers: ["operator", "operatorStaff"],
    reads: true,
    summary: "List the audit log in pages, newest entries first",
    description:
      "An entry contains the author, time and request of a change. A page may have fewer entries than `limit` even if `next` is not null, because one request reads at most 10,000 entries of each database.",
    body: strict({ biz_id: bizID.optional(), ...filter }),
    answer: entries,
    async handle({ biz_id, ...body }, { context }) {
      const page = await list(context, { ...filterOf(body), bizID: biz_id }, body);
      return { ...page, entries: page.entries.map(toEntry) };
    },
  }),
];

function filterOf({ action, actor_kind, actor_id, user_id, user_id_hex, since, until }: Body): AuditFilter {
  const userID = user_id === undefined && user_id_hex === undefined ? undefined : userIDOf({ user_id, user_id_hex });
  return { action, actorKind: actor_kind, actorID: actor_id, userID, since, until };
}

async function list({ auditLog }: Pick<AuditContext, "auditLog">, filter: AuditFilter, { limit, after }: Body) {
  const from = after === undefined ? undefined : decodeCursor(auditCursorSchema, after);
  const { entries, next } = await auditLog.list(filter, from, limit);
  return { entries, next: next === null ? null : encodeCursor(next) };
}

/**
 * Removes the names and addresses of the operator's staff from an entry.
 * @param own the ids of the partner's staff
 */
function forPartner(entry: AuditEntry, own: ReadonlySet<string>): AuditEntry {
  const { actorKind, actorID } = entry;
  const isOperator = actorKind === "operator" || (actorKind === "person" && !own.has(actorID ?? ""));
  return isOperator ? { ...entry, actorKind: "operator", actorID: null, actorName: null, address: null } : entry;
}

function toEntry({ actorKind, actorID, actorName, actorToken, data, ...row }: AuditEntry) {
  const actor = { kind: actorKind, id: actorID, name: actorName, token_id: actorToken };
  return answerFrom(entry, { ...row, data: { ...data }, actor });
}
