import { timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { ServiceError } from "keyroot/errors";
import type { RefreshTokenStore } from "./store/refreshTokens.ts";
import type { AccessTokens, Bearer } from "./tokens/accessToken.ts";
import { hashOf } from "./tokens/refreshToken.ts";

/** Finds out who sends a request, and refuses all but one kind of bearer. */
export class Authenticator {
  readonly #accessTokens: AccessTokens;
  readonly #refreshTokens: RefreshTokenStore;
  readonly #adminTokenHash: Buffer | undefined;

  constructor(accessTokens: AccessTokens, refreshTokens: RefreshTokenStore, adminToken: string | undefined) {
    this.#accessTokens = accessTokens;
    this.#refreshTokens = refreshTokens;
    this.#adminTokenHash = adminToken === undefined ? undefined : Buffer.from(hashOf(adminToken));
  }

  /**
   * @param now milliseconds since 1970
   * @throws ServiceError ACCESS_TOKEN_MISSING, ACCESS_TOKEN_REVOKED, and as `AccessTokens.verify`
   */
  async bearer<Kind extends Bearer["kind"]>(
    request: FastifyRequest,
    kind: Kind,
    now: number,
  ): Promise<Extract<Bearer, { kind: Kind }>> {
    const bearer = await this.#accessTokens.verify(tokenOf(request), kind, now);
    if (await this.#refreshTokens.stands(bearer)) return bearer;
    const message = "The refresh token of this access token is revoked.";
    throw new ServiceError(401, "ACCESS_TOKEN_REVOKED", message);
  }

  /** Lets the operator in. @throws ServiceError ACCESS_TOKEN_MISSING, ADMIN_TOKEN_REFUSED */
  admin(request: FastifyRequest): void {
    // Hashes have one length, and their comparison takes one time.
    const offered = Buffer.from(hashOf(tokenOf(request)));
    if (this.#adminTokenHash !== undefined && timingSafeEqual(offered, this.#adminTokenHash)) return;
    throw new ServiceError(401, "ADMIN_TOKEN_REFUSED", "This is not the service's admin token.");
  }
}

/** The token of `Authorization: Bearer <token>` (RFC 6750, section 2.1). */
function tokenOf({ headers }: FastifyRequest): string {
  const token = /^Bearer +([\w.~+/-]+=*) *$/i.exec(headers.authorization ?? "")?.[1];
  if (token !== undefined) return token;
  const message = "Send the header Authorization: Bearer <access token>.";
  throw new ServiceError(401, "ACCESS_TOKEN_MISSING", message);
}
