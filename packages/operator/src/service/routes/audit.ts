import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { userIDFromHex } from "keyroot/identity";
import type { ServiceContext } from "../http/context.ts";
import { type App, defineOperation } from "../http/defineOperation.ts";
import { recordSchemas } from "../http/recordSchemas.ts";
import { type AuditEntry, type AuditFilter, auditCursorSchema } from "../store/auditLog.ts";
import { decodeCursor, encodeCursor } from "../store/cursor.ts";

/** A partner's operation on its part of the audit log. `app` requires a partner's access token. */
export function partnerAuditRoutes(
  app: App,
  context: ServiceContext,
  partnerOf: (request: FastifyRequest) => { bizID: string },
): void {
  defineOperation(app, {
    path: "/v1/authdBizSrv/audit/list",
    summary: "List the partner's part of the audit log in pages, the newest entries first",
    description:
      "Who changed what of the partner and its users, when, and in which request. A page may have fewer entries than `limit`, although `next` is not null. The operator's people are not named, and their addresses are left out.",
    tag: "partner",
    schema: recordSchemas.listAudit,
    handle: (body, request) => listForPartner(context, partnerOf(request).bizID, body),
  });
}

/** The operator's operation on the whole audit log. `app` requires the admin token. */
export function operatorAuditRoutes(app: App, context: ServiceContext): void {
  defineOperation(app, {
    path: "/v1/admin/audit/list",
    summary: "List the audit log in pages, the newest entries first",
    description:
      "Who changed what, when, and in which request. A page may have fewer entries than `limit`, although `next` is not null.",
    tag: "operator",
    schema: recordSchemas.listAuditOf,
    handle: (body) => listForOperator(context, body),
  });
}

type ListBody = z.output<typeof recordSchemas.listAudit.body>;

/** Lists entries about a partner, in the API's field names. */
export async function listForPartner(context: ServiceContext, bizID: string, body: ListBody) {
  const { entries, next } = await list(context, { ...filterOf(body), bizID }, body);
  const people = entries.flatMap(({ actorKind, actorID }) => (actorKind === "person" ? (actorID ?? []) : []));
  const own = await context.staff.ofPartner(bizID, [...new Set(people)]);
  return { entries: entries.map((entry) => toEntryResponse(forPartner(entry, own))), next };
}

/** Lists entries about all partners, or one, in the API's field names. */
export async function listForOperator(context: ServiceContext, body: ListBody & { biz_id?: string | undefined }) {
  const page = await list(context, { ...filterOf(body), bizID: body.biz_id }, body);
  return { ...page, entries: page.entries.map(toEntryResponse) };
}

function filterOf({ action, actor_kind, actor_id, user_id_hex, since, until }: ListBody): AuditFilter {
  const userID = user_id_hex === undefined ? undefined : userIDFromHex(user_id_hex);
  return { action, actorKind: actor_kind, actorID: actor_id, userID, since, until };
}

async function list({ auditLog }: ServiceContext, filter: AuditFilter, { limit, after }: ListBody) {
  const from = after === undefined ? undefined : decodeCursor(auditCursorSchema, after);
  const { entries, next } = await auditLog.list(filter, from, limit);
  return { entries, next: next === null ? null : encodeCursor(next) };
}

/** An entry without the names and addresses of the operator's people. @param own the ids of the partner's people */
function forPartner(entry: AuditEntry, own: ReadonlySet<string>): AuditEntry {
  const { actorKind, actorID } = entry;
  const isOperator = actorKind === "operator" || (actorKind === "person" && !own.has(actorID ?? ""));
  return isOperator ? { ...entry, actorKind: "operator", actorID: null, actorName: null, address: null } : entry;
}

/** An entry of the audit log in the API's field names. */
function toEntryResponse(entry: AuditEntry) {
  const { id, at, action, bizID, userID, data, requestID, address } = entry;
  return {
    ...{ id, at, action },
    actor: { kind: entry.actorKind, id: entry.actorID, name: entry.actorName, token_id: entry.actorToken },
    ...{ biz_id: bizID, user_id: userID, data: { ...data }, request_id: requestID, address },
  };
}
