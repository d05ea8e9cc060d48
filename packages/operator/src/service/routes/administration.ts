import { ServiceError } from "keyroot/errors";
import type { ServiceContext } from "../http/context.ts";
import { type App, defineOperation } from "../http/defineOperation.ts";
import { authorOf } from "../http/requestLog.ts";
import { schemas } from "../http/schemas.ts";
import type { PartnerSummary } from "../store/partners.ts";
import { toPartnerResponse, toServerTokenResponse } from "./responses.ts";

/** The operator's operations on existing partners and their server tokens. `app` requires the admin token. */
export function administrationRoutes(app: App, { partners, refreshTokens, now }: ServiceContext): void {
  /** @throws ServiceError PARTNER_UNKNOWN */
  const getPartner = async (bizID: string): Promise<PartnerSummary> => {
    const partner = await partners.get(bizID);
    if (partner !== undefined) return partner;
    throw partnerUnknown();
  };
  /** @throws ServiceError PARTNER_UNKNOWN */
  const requirePartner = async (bizID: string): Promise<void> => {
    if (!(await partners.exists(bizID))) throw partnerUnknown();
  };

  defineOperation(app, {
    path: "/v1/admin/partners/get",
    summary: "Get a partner with its numbers",
    tag: "operator",
    errors: [404],
    schema: schemas.getPartner,
    async handle({ biz_id }) {
      return toPartnerResponse(await getPartner(biz_id));
    },
  });

  defineOperation(app, {
    path: "/v1/admin/partners/list",
    summary: "List or search partners with their numbers in pages, in the order of creation",
    tag: "operator",
    errors: [404],
    schema: schemas.listPartners,
    async handle({ search, limit, after }) {
      const page = await partners.list({ search, limit, after });
      if (page === undefined) throw partnerUnknown();
      return { partners: page.partners.map(toPartnerResponse), next: page.next };
    },
  });

  defineOperation(app, {
    path: "/v1/admin/partners/suspend",
    summary: "Refuse all tokens of a partner and of its users, until the partner is resumed",
    description:
      "Takes effect at once on every replica. Published keys remain verifiable. Repeating the request has no effect.",
    tag: "operator",
    errors: [404],
    schema: schemas.suspendPartner,
    async handle({ biz_id: bizID }, request) {
      await requirePartner(bizID);
      await partners.suspend(bizID, now(), authorOf(request));
      return toPartnerResponse(await getPartner(bizID));
    },
  });

  defineOperation(app, {
    path: "/v1/admin/partners/resume",
    summary: "End the suspension of a partner",
    description:
      "Its tokens are accepted again, except for those that were revoked. Repeating the request has no effect.",
    tag: "operator",
    errors: [404],
    schema: schemas.resumePartner,
    async handle({ biz_id: bizID }, request) {
      await requirePartner(bizID);
      await partners.resume(bizID, now(), authorOf(request));
      return toPartnerResponse(await getPartner(bizID));
    },
  });

  defineOperation(app, {
    path: "/v1/admin/partners/setUserLimit",
    summary: "Limit the number of users that a partner may create",
    description:
      "A limit below the partner's number of users is accepted: the partner keeps its users, and cannot create more.",
    tag: "operator",
    errors: [404],
    schema: schemas.setUserLimit,
    async handle({ biz_id: bizID, user_limit = null }, request) {
      await requirePartner(bizID);
      await partners.setUserLimit(bizID, user_limit, now(), authorOf(request));
      return toPartnerResponse(await getPartner(bizID));
    },
  });

  defineOperation(app, {
    path: "/v1/admin/serverTokens/list",
    summary: "List a partner's server tokens in pages, in the order of creation, without their values",
    tag: "operator",
    errors: [404],
    schema: schemas.listServerTokensOf,
    async handle({ biz_id: bizID, limit, after }) {
      await requirePartner(bizID);
      const page = await refreshTokens.listOfPartner(bizID, { limit, after });
      if (page !== undefined) return { tokens: page.tokens.map(toServerTokenResponse), next: page.next };
      throw new ServiceError(404, "TOKEN_UNKNOWN", "The partner has no refresh token with the id in `after`.");
    },
  });

  defineOperation(app, {
    path: "/v1/admin/serverTokens/revoke",
    summary: "Revoke any server token and its access tokens",
    tag: "operator",
    errors: [404],
    schema: schemas.revokeAnyServerToken,
    async handle({ token_id }, request) {
      const revoked = await refreshTokens.revokeServerToken(undefined, token_id, now(), authorOf(request));
      if (revoked === undefined) throw new ServiceError(404, "TOKEN_UNKNOWN", "There is no server token with this id.");
      return { biz_id: revoked.bizID, ...toServerTokenResponse(revoked) };
    },
  });
}

/** The error for a `biz_id` that does not exist. */
export function partnerUnknown(): ServiceError {
  return new ServiceError(404, "PARTNER_UNKNOWN", "There is no partner with this biz_id.");
}
