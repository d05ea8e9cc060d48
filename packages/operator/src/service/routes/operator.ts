import { ServiceError } from "keyroot/errors";
import type { ServiceContext } from "../http/context.ts";
import { type App, defineOperation, idempotencyKeyOf } from "../http/defineOperation.ts";
import { invitationUrl } from "../http/origin.ts";
import { authorOf } from "../http/requestLog.ts";
import { schemas } from "../http/schemas.ts";
import { administrationRoutes, partnerUnknown } from "./administration.ts";
import { operatorAuditRoutes } from "./audit.ts";
import { toInvitationResponse } from "./responses.ts";

/** Operations under /v1/admin/, which require the service's admin token. */
export function operatorRoutes(app: App, context: ServiceContext): void {
  const { partners, staff, refreshTokens, authenticator, rateLimits, publish, now } = context;

  app.addHook("onRequest", async (request, reply) => {
    authenticator.requireAdmin(request);
    request.actor = { kind: "operator" };
    await rateLimits.countCaller("operator", reply);
  });

  defineOperation(app, {
    path: "/v1/admin/partners/create",
    summary: "Create a partner",
    tag: "operator",
    status: 201,
    idempotent: true,
    errors: [409],
    schema: schemas.createPartner,
    async handle({ name }, request) {
      const { bizID, created } = await partners.create(name, now(), authorOf(request), idempotencyKeyOf(request));
      return { biz_id: bizID, name, created };
    },
  });

  defineOperation(app, {
    path: "/v1/admin/serverTokens/create",
    summary: "Create a refresh token for a partner's server",
    tag: "operator",
    status: 201,
    idempotent: true,
    errors: [404, 409],
    schema: schemas.createServerToken,
    async handle({ biz_id: bizID, name = null }, request) {
      if (!(await partners.exists(bizID))) throw partnerUnknown();
      const options = { now: now(), author: authorOf(request), idempotencyKey: idempotencyKeyOf(request) };
      const { tokenID, token, created } = await refreshTokens.createForServer(bizID, name, options);
      return { token_id: tokenID, token, name, created };
    },
  });

  administrationRoutes(app, context);
  operatorAuditRoutes(app, context);

  defineOperation(app, {
    path: "/v1/admin/staff/invite",
    summary: "Invite a person to a partner's dashboard",
    description:
      "A person with this name is invited again: the earlier link, all passkeys and all sessions of the person end.",
    tag: "operator",
    status: 201,
    errors: [404, 409],
    schema: schemas.inviteStaff,
    async handle({ biz_id: bizID, name, role }, request) {
      if (!(await partners.exists(bizID))) throw partnerUnknown();
      const invitation = await staff.inviteByName(bizID, name, role, now(), authorOf(request));
      return toInvitationResponse(invitation, invitationUrl(context, request, invitation));
    },
  });

  defineOperation(app, {
    path: "/v1/admin/operators/invite",
    summary: "Invite a person to the operator's console",
    description:
      "A person with this name is invited again: the earlier link, all passkeys and all sessions of the person end.",
    tag: "operator",
    status: 201,
    errors: [409],
    schema: schemas.inviteOperator,
    async handle({ name, role }, request) {
      const invitation = await staff.inviteByName(null, name, role, now(), authorOf(request));
      return toInvitationResponse(invitation, invitationUrl(context, request, invitation));
    },
  });

  defineOperation(app, {
    path: "/v1/admin/publish",
    summary: "Publish the registered keys whose time to object is over",
    description: "Responds when the transactions are confirmed, which may take minutes.",
    tag: "operator",
    errors: [409],
    schema: schemas.publish,
    async handle(_body, request) {
      if (publish === undefined) throw publishUnavailable();
      return { batches: await publish(authorOf(request)) };
    },
  });
}

/** The error of a service without a configured chain. */
export function publishUnavailable(): ServiceError {
  const message = "This service does not publish: set KEYROOT_RPC_URL, KEYROOT_CONTRACT and KEYROOT_FILES.";
  return new ServiceError(503, "UNAVAILABLE", message);
}
