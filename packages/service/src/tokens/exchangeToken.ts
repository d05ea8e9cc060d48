import { z } from "zod";
import { ServiceError } from "../api/base/errors.ts";
import type { ApiContext } from "../api/context.ts";
import type { AccessTokens } from "./accessTokens.ts";
import type { RefreshTokenStore } from "./refreshTokens.ts";
import { tokenRefused } from "./authenticator.ts";
import { hideFromBrowsers } from "../api/cors.ts";
import { operationsWith } from "../api/defineOperation.ts";
import { bizID, strict } from "../api/fields.ts";
import { actorOf } from "../api/base/author.ts";

/** What the exchange of tokens needs. */
export interface ExchangeContext extends ApiContext {
  refreshTokens: RefreshTokenStore;
  accessTokens: AccessTokens;
}

/** The exchange of a refresh token for an access token (docs/specification.md, "Endpoints"). */
export const exchangeToken = operationsWith<ExchangeContext>()({
  path: "/v1/public/auth/jwt",
  callers: ["public"],
  specified: true,
  summary: "Exchange a server token or a refresh token for an access token",
  body: strict({
    biz_id: bizID,
    token: z.string().min(1).max(128).meta({ description: "The value of a server token or a user's refresh token." }),
  }),
  answer: strict({ jwt: z.string().meta({ description: "The access token. It expires after four hours." }) }),
  async handle({ biz_id, token }, { context, request, reply }) {
    const { refreshTokens, accessTokens, rateLimits, now } = context;
    const found = await refreshTokens.principalOf(token, biz_id, now());
    if (found === undefined) {
      const message =
        "The token is not an active server token or refresh token of this biz_id. Check the token and the biz_id.";
      throw new ServiceError(401, "REFRESH_TOKEN_REFUSED", message);
    }
    const { principal, refusal } = found;
    // A partner's token must stay on its servers, so web pages of other origins cannot read the response.
    if (principal.kind === "partner") hideFromBrowsers(reply);
    request.actor = actorOf(principal);
    // A suspended partner's users still get access tokens, with which they can withdraw a pending key that someone else
    // registered for them.
    const isUserOfSuspended = principal.kind === "user" && refusal === "suspended";
    if (refusal !== undefined && !isUserOfSuspended) throw tokenRefused(refusal);
    await rateLimits.countCaller(principal, reply);
    return { jwt: accessTokens.issue(principal, now()) };
  },
});
