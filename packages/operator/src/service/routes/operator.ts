import { ServiceError } from "keyroot/errors";
import { type App, idempotencyKeyOf, operation } from "../operation.ts";
import { schemas } from "../schemas.ts";
import type { Service } from "../service.ts";

/** Everything under /v1/admin/: for the operator, whose token is part of the service's configuration. */
export function operatorRoutes(app: App, service: Service): void {
  const { partners, refreshTokens, authenticator, rateLimit, publish, now } = service;

  app.addHook("onRequest", async (request) => {
    await rateLimit(`operator at ${request.ip}`);
    authenticator.admin(request);
  });

  operation(app, {
    path: "/v1/admin/partners/create",
    summary: "Create a partner company",
    tag: "operator",
    status: 201,
    schema: schemas.createPartner,
    async handle({ name }) {
      const partner = await partners.create(name, now());
      return { biz_id: partner.bizID, name, created: partner.created };
    },
  });

  operation(app, {
    path: "/v1/admin/serverTokens/create",
    summary: "Create a refresh token for a partner's server",
    tag: "operator",
    status: 201,
    idempotent: true,
    refusals: [404, 409],
    schema: schemas.createServerToken,
    async handle({ biz_id: bizID, name = null }, request) {
      if (!(await partners.exists(bizID))) throw new ServiceError(404, "PARTNER_UNKNOWN", "There is no such partner.");
      const making = { now: now(), idempotencyKey: idempotencyKeyOf(request) };
      const { tokenID, token, created } = await refreshTokens.makeForServer(bizID, name, making);
      return { token_id: tokenID, token, name, created };
    },
  });

  operation(app, {
    path: "/v1/admin/publish",
    summary: "Publish the registered keys that are pending, now",
    tag: "operator",
    schema: schemas.publish,
    async handle() {
      if (publish !== undefined) return { batches: await publish() };
      throw new ServiceError(503, "UNAVAILABLE", "This service has no chain to publish on: see KEYROOT_RPC_URL.");
    },
  });
}
