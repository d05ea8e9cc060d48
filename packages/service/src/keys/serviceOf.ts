import type { FastifyRequest } from "fastify";
import { serviceNameOf } from "keyroot/internal/identity";

/** Returns the service's URL in the app, which the proof of possession contains. */
export function serviceOf(
  { serviceUrl }: { serviceUrl?: string | undefined },
  { server }: Pick<FastifyRequest, "server">,
): string {
  return serviceNameOf(serviceUrl ?? server.listeningOrigin);
}
