import type { FastifyRequest } from "fastify";
import type { ServiceContext } from "./context.ts";

/**
 * The URL at which callers reach the service, without a trailing slash: the configured one, or this machine's. It does not
 * depend on the header Host, which any site can choose by its DNS.
 */
export function baseUrlOf({ serviceUrl }: Pick<ServiceContext, "serviceUrl">, request: FastifyRequest): string {
  return serviceUrl ?? `http://localhost:${request.socket.localPort ?? 0}`;
}
