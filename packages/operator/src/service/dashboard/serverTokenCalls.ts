import { ServiceError } from "keyroot/errors";
import type { ServiceContext } from "../http/context.ts";
import type { App } from "../http/defineOperation.ts";
import { authorOf } from "../http/requestLog.ts";
import { schemas } from "../http/schemas.ts";
import { toServerTokenResponse } from "../routes/responses.ts";
import { defineCall, requireActivePartner } from "./defineCall.ts";
import { calls } from "./schemas.ts";

/** The refresh tokens of the partner's servers. */
export function serverTokenCalls(app: App, context: ServiceContext): void {
  const { refreshTokens, now } = context;

  defineCall(app, context, {
    path: "serverTokens/list",
    access: "reader",
    schema: schemas.listServerTokens,
    async handle({ limit, after }, { person: { bizID } }) {
      const page = await refreshTokens.listOfPartner(bizID, { limit, after });
      if (page === undefined) unknown();
      return { tokens: page.tokens.map(toServerTokenResponse), next: page.next };
    },
  });

  defineCall(app, context, {
    path: "serverTokens/create",
    access: "administrator",
    verified: true,
    schema: { body: calls.createServerToken, response: schemas.createServerToken.response },
    async handle({ name = null }, { person: { bizID } }, request) {
      await requireActivePartner(context, bizID);
      // Without an Idempotency-Key, so that no copy of the token is kept for repeated requests.
      const options = { now: now(), author: authorOf(request), idempotencyKey: undefined };
      const { tokenID, token, created } = await refreshTokens.createForServer(bizID, name, options);
      return { token_id: tokenID, token, name, created };
    },
  });

  defineCall(app, context, {
    path: "serverTokens/revoke",
    access: "administrator",
    schema: schemas.revokeServerToken,
    async handle({ token_id }, { person: { bizID } }, request) {
      const revoked = await refreshTokens.revokeServerToken(bizID, token_id, now(), authorOf(request));
      return toServerTokenResponse(revoked ?? unknown());
    },
  });
}

/** @throws ServiceError TOKEN_UNKNOWN */
function unknown(): never {
  throw new ServiceError(404, "TOKEN_UNKNOWN", "Your company has no token with this id.");
}
