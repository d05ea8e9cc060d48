import type { ServiceContext } from "../http/context.ts";
import type { App } from "../http/defineOperation.ts";
import { recordSchemas } from "../http/recordSchemas.ts";
import { listForOperator, listForPartner } from "../routes/audit.ts";
import { defineCall } from "./defineCall.ts";

/** The audit log: a partner's part of it, or all of it for the operator. */
export function auditCalls(app: App, context: ServiceContext): void {
  defineCall(app, context, {
    path: "audit/list",
    access: "reader",
    schema: recordSchemas.listAudit,
    handle: (body, { person: { bizID } }) => listForPartner(context, bizID, body),
  });

  defineCall(app, context, {
    path: "operator/listAudit",
    access: "reader",
    staff: "operator",
    schema: recordSchemas.listAuditOf,
    handle: (body) => listForOperator(context, body),
  });
}
