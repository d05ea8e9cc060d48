import type { FastifyRequest } from "fastify";
import { ServiceError } from "keyroot/errors";
import type { ServiceContext } from "../http/context.ts";
import type { App } from "../http/defineOperation.ts";
import { invitationUrl } from "../http/origin.ts";
import { toServiceError } from "../http/problem.ts";
import { authorOf } from "../http/requestLog.ts";
import { schemas } from "../http/schemas.ts";
import type { PublishRun } from "../publishing/publishRuns.ts";
import { partnerUnknown } from "../routes/administration.ts";
import { publishUnavailable } from "../routes/operator.ts";
import { toInvitationResponse, toPartnerResponse, toServerTokenResponse } from "../routes/responses.ts";
import { checkDatabases } from "../store/checkDatabases.ts";
import { defineCall } from "./defineCall.ts";
import { calls } from "./schemas.ts";

/** The operator's console: partners, and the state of the service. The store functions are those of /v1/admin. */
export function operatorCalls(app: App, context: ServiceContext): void {
  const { partners, refreshTokens, staff, databases, publishing, publishRuns, now } = context;

  /** @throws ServiceError PARTNER_UNKNOWN */
  const requirePartner = async (bizID: string): Promise<void> => {
    if (!(await partners.exists(bizID))) throw partnerUnknown();
  };
  /** @throws ServiceError PARTNER_UNKNOWN */
  const getPartner = async (bizID: string) => {
    const partner = await partners.get(bizID);
    if (partner === undefined) throw partnerUnknown();
    return toPartnerResponse(partner);
  };

  defineCall(app, context, {
    path: "operator/listPartners",
    access: "reader",
    staff: "operator",
    schema: schemas.listPartners,
    async handle({ search, limit, after }) {
      const page = await partners.list({ search, limit, after });
      if (page === undefined) throw partnerUnknown();
      return { partners: page.partners.map(toPartnerResponse), next: page.next };
    },
  });

  defineCall(app, context, {
    path: "operator/getPartner",
    access: "reader",
    staff: "operator",
    schema: schemas.getPartner,
    handle: ({ biz_id }) => getPartner(biz_id),
  });

  defineCall(app, context, {
    path: "operator/createPartner",
    access: "administrator",
    staff: "operator",
    schema: schemas.createPartner,
    async handle({ name }, _session, request) {
      const { bizID, created } = await partners.create(name, now(), authorOf(request));
      return { biz_id: bizID, name, created };
    },
  });

  defineCall(app, context, {
    path: "operator/suspendPartner",
    access: "administrator",
    staff: "operator",
    schema: schemas.suspendPartner,
    async handle({ biz_id }, _session, request) {
      await requirePartner(biz_id);
      await partners.suspend(biz_id, now(), authorOf(request));
      return getPartner(biz_id);
    },
  });

  defineCall(app, context, {
    path: "operator/resumePartner",
    access: "administrator",
    staff: "operator",
    schema: schemas.resumePartner,
    async handle({ biz_id }, _session, request) {
      await requirePartner(biz_id);
      await partners.resume(biz_id, now(), authorOf(request));
      return getPartner(biz_id);
    },
  });

  defineCall(app, context, {
    path: "operator/setUserLimit",
    access: "administrator",
    staff: "operator",
    schema: schemas.setUserLimit,
    async handle({ biz_id, user_limit = null }, _session, request) {
      await requirePartner(biz_id);
      await partners.setUserLimit(biz_id, user_limit, now(), authorOf(request));
      return getPartner(biz_id);
    },
  });

  defineCall(app, context, {
    path: "operator/inviteStaff",
    access: "administrator",
    staff: "operator",
    verified: true,
    schema: { body: calls.invitePartnerStaff, response: calls.invitation },
    async handle({ biz_id, name, role }, _session, request) {
      await requirePartner(biz_id);
      const invitation = await staff.inviteByName(biz_id, name, role, now(), authorOf(request));
      return toInvitationResponse(invitation, invitationUrl(context, request, invitation));
    },
  });

  defineCall(app, context, {
    path: "operator/listServerTokens",
    access: "reader",
    staff: "operator",
    schema: schemas.listServerTokensOf,
    async handle({ biz_id, limit, after }) {
      await requirePartner(biz_id);
      const page = await refreshTokens.listOfPartner(biz_id, { limit, after });
      if (page === undefined) tokenUnknown();
      return { tokens: page.tokens.map(toServerTokenResponse), next: page.next };
    },
  });

  defineCall(app, context, {
    path: "operator/revokeServerToken",
    access: "administrator",
    staff: "operator",
    schema: schemas.revokeAnyServerToken,
    async handle({ token_id }, _session, request) {
      const found = await refreshTokens.revokeServerToken(undefined, token_id, now(), authorOf(request));
      const revoked = found ?? tokenUnknown();
      return { biz_id: revoked.bizID, ...toServerTokenResponse(revoked) };
    },
  });

  defineCall(app, context, {
    path: "operator/publish",
    access: "administrator",
    staff: "operator",
    schema: { body: calls.empty, response: calls.publishRun },
    handle(_body, _session, request) {
      if (publishRuns === undefined) return Promise.reject(publishUnavailable());
      const run = publishRuns.start(authorOf(request), (err) => {
        request.log.error({ err }, "publishing failed");
      });
      return Promise.resolve(toRunResponse(run));
    },
  });

  defineCall(app, context, {
    path: "operator/getStatus",
    access: "reader",
    staff: "operator",
    schema: { body: calls.empty, response: calls.operatorStatus },
    async handle(_body, _session, request) {
      const [checked, status] = await Promise.all([checkDatabases(databases), publishing?.()]);
      return {
        databases: checked.map(({ name, error }) => ({ name, error: logFailure(error, request) })),
        publishing: status
          ? {
              chain: { ...status.chain, error: logFailure(status.chain.error, request) },
              stores: status.stores.map((store) => ({ ...store, error: logFailure(store.error, request) })),
              publishable: status.publishable,
              running: status.running,
              last_run: publishRuns?.last ? toRunResponse(publishRuns.last) : null,
            }
          : null,
      };
    },
  });
}

/** A run of the publisher in the calls' field names. */
function toRunResponse({ started, ended, batches, error }: PublishRun) {
  return { started, ended, batches: [...batches], error: codeOf(error) };
}

/** Logs an error of a check. @returns its code, for the page */
function logFailure(error: unknown, request: FastifyRequest): string | null {
  if (error !== undefined) request.log.warn({ err: error }, "a check of the console failed");
  return codeOf(error);
}

/** The code of an error. Its message may contain URLs with secrets, which no page shows. */
function codeOf(error: unknown): string | null {
  if (error === undefined) return null;
  const { code } = error as { code?: unknown };
  return typeof code === "string" && /^[A-Z_]{3,40}$/.test(code) ? code : toServiceError(error).code;
}

/** @throws ServiceError TOKEN_UNKNOWN */
function tokenUnknown(): never {
  throw new ServiceError(404, "TOKEN_UNKNOWN", "There is no server token with this id.");
}
