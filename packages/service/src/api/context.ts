import type { FastifyRequest } from "fastify";
import type { Principal, PrincipalOf, Session } from "./base/principals.ts";
import type { Databases } from "./database/database.ts";
import type { RateLimits } from "./limits/rateLimits.ts";

/** What every operation can use. The subjects add their stores to it, and the roof puts all together. */
export interface ApiContext {
  databases: Databases;
  rateLimits: RateLimits;
  /** The name of the deployment stage. */
  stage: string;
  /** The URL at which callers reach the service, without a trailing slash. Default: its local address. */
  serviceUrl: string | undefined;
  now: () => number;
  authenticator: TokenAuthenticator;
  sessions: SessionReader;
  partners: { isSuspended: (bizID: string) => Promise<boolean> };
}

/** Identifies the caller of a request by its bearer token. The subject `tokens` implements it. */
export interface TokenAuthenticator {
  /** @param suspendedToo whether tokens of suspended partners are accepted */
  principalOf<Kind extends Principal["kind"]>(
    request: FastifyRequest,
    kind: Kind,
    now: number,
    suspendedToo: boolean,
  ): Promise<PrincipalOf<Kind>>;
  /** Rejects requests without the admin token. */
  requireAdmin(request: FastifyRequest): void;
}

/** Reads the sessions of the dashboard. The subject `staff` implements it. */
interface SessionReader {
  /** @returns undefined if the session has ended or the person was removed */
  get(cookie: string, now: number): Promise<Session | undefined>;
  /** Uses a recent verification of the session's person. @returns false if there is none */
  useVerification(sessionHash: string, now: number): Promise<boolean>;
}

/**
 * Returns the URL at which callers reach the service, without a trailing slash. It is the configured URL, or else
 * localhost with the service's port. The `Host` header is not used, because any site's DNS name can point to this
 * machine.
 */
export function baseUrlOf({ serviceUrl }: Pick<ApiContext, "serviceUrl">, request: FastifyRequest): string {
  return serviceUrl ?? `http://localhost:${request.socket.localPort ?? 0}`;
}
