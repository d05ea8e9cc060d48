import type { FastifyRequest } from "fastify";
import type { ServiceContext } from "./context.ts";

/**
 * The URL at which callers reach the service, without a trailing slash: the configured one, or this machine's. It does not
 * depend on the header Host, which any site can choose by its DNS.
 */
export function baseUrlOf({ baseUrl }: Pick<ServiceContext, "baseUrl">, request: FastifyRequest): string {
  return baseUrl ?? `http://localhost:${request.socket.localPort ?? 0}`;
}

/** The link of an invitation. Its token is in the fragment, which browsers do not send. */
export function invitationUrl(
  context: Pick<ServiceContext, "baseUrl">,
  request: FastifyRequest,
  { token }: { token: string },
): string {
  return `${baseUrlOf(context, request)}/dashboard/#/invitation/${token}`;
}
