import type { FastifyRequest } from "fastify";
import type { Principal, PrincipalOf } from "../tokens/accessTokens.ts";
import type { ServiceContext } from "./context.ts";
import type { App } from "./defineOperation.ts";

/**
 * Makes an app accept only requests with a valid access token of one kind, within the rate limit of its principal.
 * @returns a function that returns the principal of an accepted request
 */
export function requirePrincipal<Kind extends Principal["kind"]>(
  app: App,
  { authenticator, rateLimit, now }: ServiceContext,
  kind: Kind,
): (request: FastifyRequest) => PrincipalOf<Kind> {
  const principals = new WeakMap<FastifyRequest, PrincipalOf<Kind>>();
  app.addHook("onRequest", async (request) => {
    const principal = await authenticator.principalOf(request, kind, now());
    await rateLimit(callerOf(principal));
    principals.set(request, principal);
  });
  return (request) => {
    const principal = principals.get(request);
    if (principal === undefined) throw new Error("An operation ran before its request was authenticated.");
    return principal;
  };
}

/** The name under which a principal's requests are counted. */
function callerOf(principal: Principal): string {
  return principal.kind === "partner" ? `partner ${principal.bizID}` : `user ${principal.userID}`;
}
