import type { FastifyRequest } from "fastify";
import type { Principal, PrincipalOf } from "../tokens/accessTokens.ts";
import type { ServiceContext } from "./context.ts";
import type { App } from "./defineOperation.ts";
import { actorOf } from "./requestLog.ts";

/**
 * Makes an app accept only requests with a valid access token of one kind, within the rate limit of its principal.
 * @returns a function that returns the principal of an accepted request
 */
export function requirePrincipal<Kind extends Principal["kind"]>(
  app: App,
  { authenticator, rateLimits, now }: ServiceContext,
  kind: Kind,
): (request: FastifyRequest) => PrincipalOf<Kind> {
  const principals = new WeakMap<FastifyRequest, PrincipalOf<Kind>>();
  app.addHook("onRequest", async (request, reply) => {
    const principal = await authenticator.principalOf(request, kind, now());
    request.actor = actorOf(principal);
    principals.set(request, principal);
    await rateLimits.countCaller(principal, reply);
  });
  return (request) => {
    const principal = principals.get(request);
    if (principal === undefined) throw new Error("An operation ran before its request was authenticated.");
    return principal;
  };
}
