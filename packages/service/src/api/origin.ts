import type { FastifyRequest } from "fastify";
import type { ApiContext } from "./context.ts";

/**
 * Returns the URL at which callers reach the service, without a trailing slash. Default: this machine's URL. The `Host`
 * header is not used, because any site's DNS name can point to this machine.
 */
export function baseUrlOf({ serviceUrl }: Pick<ApiContext, "serviceUrl">, request: FastifyRequest): string {
  return serviceUrl ?? `http://localhost:${request.socket.localPort ?? 0}`;
}
