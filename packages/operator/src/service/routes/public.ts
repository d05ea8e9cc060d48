import { ServiceError } from "keyroot/errors";
import { type App, operation } from "../operation.ts";
import { schemas } from "../schemas.ts";
import type { Service } from "../service.ts";

/** What needs no token: a partner and a user exchange their refresh tokens here. */
export function publicRoutes(app: App, { refreshTokens, accessTokens, rateLimit, signingKeys, now }: Service): void {
  operation(app, {
    path: "/v1/public/auth/jwt",
    summary: "Exchange a refresh token for an access token",
    tag: "public",
    specified: true,
    schema: schemas.exchange,
    async handle({ biz_id: bizID, token }, { ip }) {
      await rateLimit(`address ${ip}`);
      const bearer = await refreshTokens.bearerOf(token, bizID);
      if (bearer !== undefined) return { jwt: await accessTokens.issue(bearer, now()) };
      const message = "The refresh token is not one that stands for this biz_id.";
      throw new ServiceError(401, "REFRESH_TOKEN_REFUSED", message);
    },
  });

  app.get("/.well-known/jwks.json", { schema: { hide: true } }, (_request, reply) =>
    reply.header("Cache-Control", "public, max-age=300").send(signingKeys.jwks),
  );
}
