import { timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { ServiceError } from "../api/base/errors.ts";
import { partnerSuspended } from "../api/authenticate.ts";
import type { TokenAuthenticator } from "../api/context.ts";
import type { RefreshTokenStore } from "./refreshTokens.ts";
import type { Refusal } from "./findTokens.ts";
import { userDeactivated } from "../users/userErrors.ts";
import type { AccessTokens } from "./accessTokens.ts";
import type { Principal, PrincipalOf } from "../api/base/principals.ts";
import { hashSecret } from "../api/database/secrets.ts";

/** Identifies the caller of a request by its bearer token. */
export class Authenticator implements TokenAuthenticator {
  readonly #accessTokens: AccessTokens;
  readonly #refreshTokens: RefreshTokenStore;
  readonly #adminTokenHash: Buffer | undefined;

  /** @param adminToken the admin token. Undefined disables admin operations */
  constructor(accessTokens: AccessTokens, refreshTokens: RefreshTokenStore, adminToken: string | undefined) {
    this.#accessTokens = accessTokens;
    this.#refreshTokens = refreshTokens;
    this.#adminTokenHash = adminToken === undefined ? undefined : Buffer.from(hashSecret(adminToken));
  }

  /**
   * Returns the principal of the request's access token, which must be of the required kind.
   * @param suspendedToo whether tokens of suspended partners are accepted
   * @throws ServiceError ACCESS_TOKEN_MISSING, ACCESS_TOKEN_REVOKED, PARTNER_SUSPENDED, USER_DEACTIVATED, and the codes
   *   of `AccessTokens.verify`
   */
  async principalOf<Kind extends Principal["kind"]>(
    request: FastifyRequest,
    kind: Kind,
    now: number,
    suspendedToo: boolean,
  ): Promise<PrincipalOf<Kind>> {
    const principal = await this.#accessTokens.verify(bearerTokenOf(request), kind, now);
    const refusal = await this.#refreshTokens.refusalOf(principal, now);
    if (refusal !== undefined && !(suspendedToo && refusal === "suspended")) throw tokenRefused(refusal);
    return principal;
  }

  /** Rejects requests without the admin token. @throws ServiceError ACCESS_TOKEN_MISSING, ADMIN_TOKEN_REFUSED */
  requireAdmin(request: FastifyRequest): void {
    // Compare hashes, because `timingSafeEqual` requires values of equal length.
    const hash = Buffer.from(hashSecret(bearerTokenOf(request)));
    if (this.#adminTokenHash !== undefined && timingSafeEqual(hash, this.#adminTokenHash)) return;
    const message = "The token is not the service's admin token. Use the token in its KEYROOT_ADMIN_TOKEN variable.";
    throw new ServiceError(401, "ADMIN_TOKEN_REFUSED", message);
  }
}

/** The error for a valid token that the service rejects. */
export function tokenRefused(refusal: Refusal): ServiceError {
  switch (refusal) {
    case "revoked":
      return new ServiceError(
        401,
        "ACCESS_TOKEN_REVOKED",
        "The server token or refresh token behind this access token was revoked. Get a new one.",
      );
    case "suspended":
      return partnerSuspended();
    case "deactivated":
      return userDeactivated();
  }
}

/**
 * Returns the token of an `Authorization: Bearer <token>` header (RFC 6750, section 2.1).
 * @throws ServiceError ACCESS_TOKEN_MISSING
 */
function bearerTokenOf({ headers }: FastifyRequest): string {
  const token = /^Bearer +([\w.~+/-]+=*) *$/i.exec(headers.authorization ?? "")?.[1];
  if (token !== undefined) return token;
  const message = "The request has no bearer token. Send it in the header Authorization: Bearer <token>.";
  throw new ServiceError(401, "ACCESS_TOKEN_MISSING", message);
}
