import { ServiceError } from "keyroot/errors";
import { tokenRefused } from "../http/authenticator.ts";
import type { ServiceContext } from "../http/context.ts";
import { hideFromBrowsers } from "../http/cors.ts";
import { type App, defineOperation } from "../http/defineOperation.ts";
import { actorOf } from "../http/requestLog.ts";
import { schemas } from "../http/schemas.ts";

/** Operations under /v1/public/, which require no token, and the public signing keys. */
export function publicRoutes(app: App, context: ServiceContext): void {
  const { refreshTokens, accessTokens, rateLimits, signingKeys, now } = context;

  defineOperation(app, {
    path: "/v1/public/auth/jwt",
    summary: "Exchange a refresh token for an access token",
    tag: "public",
    specified: true,
    schema: schemas.exchange,
    async handle({ biz_id: bizID, token }, request, reply) {
      const found = await refreshTokens.principalOf(token, bizID, now());
      if (found === undefined) {
        const message = "The refresh token is not an active token of this biz_id.";
        throw new ServiceError(401, "REFRESH_TOKEN_REFUSED", message);
      }
      const { principal, refusal } = found;
      // A partner's token belongs on its servers: a page that has one cannot use it.
      if (principal.kind === "partner") hideFromBrowsers(reply);
      request.actor = actorOf(principal);
      if (refusal !== undefined) throw tokenRefused(refusal);
      await rateLimits.countCaller(principal, reply);
      return { jwt: accessTokens.issue(principal, now()) };
    },
  });

  app.get("/.well-known/jwks.json", { schema: { hide: true } }, (_request, reply) =>
    reply.header("Cache-Control", "public, max-age=300").send(signingKeys.jwks),
  );
}
