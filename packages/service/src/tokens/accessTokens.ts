import type { Principal, PrincipalOf } from "../api/base/principals.ts";
import { randomUUID } from "node:crypto";
import { createSigner } from "fast-jwt";
import { errors, jwtVerify } from "jose";
import { LRUCache } from "lru-cache";
import { isRegion, isUserID } from "keyroot/internal/identity";
import { ServiceError } from "../api/base/errors.ts";
import { ALGORITHM, type SigningKeys } from "./signingKeys.ts";

/** Lifetime of an access token in seconds: 4 hours (docs/specification.md, "Limits"). */
const LIFETIME_SECONDS = 4 * 60 * 60;
/** The `typ` header of access tokens (RFC 9068, section 2.1). */
const TYPE = "at+jwt";
/** Maximum length of a token in characters. Longer texts are not parsed. */
const MAX_CHARACTERS = 2048;
/** Maximum number of verified tokens in memory. Each token takes about 1 kB. */
const MAX_REMEMBERED = 10_000;

const AUDIENCES = { partner: "keyroot/partner", user: "keyroot/user" } as const;

interface VerifiedToken {
  principal: Principal;
  expires: number;
}

/** Issues and verifies access tokens, which are JWTs (RFC 9068). Each kind of principal has a separate audience. */
export class AccessTokens {
  readonly #keys: SigningKeys;
  readonly #issuer: string;
  /** Signs claims in this thread, because an Ed25519 signature takes less time than a transfer to another thread. */
  readonly #sign: (claims: Record<string, unknown>) => string;
  /** Verified tokens. They are kept, because verifying a signature costs more than the rest of a request. */
  readonly #verified = new LRUCache<string, VerifiedToken>({ max: MAX_REMEMBERED });

  /** @param issuer the URL at which callers reach the service */
  constructor(keys: SigningKeys, issuer: string) {
    this.#keys = keys;
    this.#issuer = issuer;
    const { kid, pem } = keys.signing;
    this.#sign = createSigner({ key: pem, algorithm: ALGORITHM, kid, header: { alg: ALGORITHM, typ: TYPE } });
  }

  /** Issues an access token. */
  issue(principal: Principal, now: number): string {
    const seconds = Math.floor(now / 1000);
    return this.#sign({
      biz_id: principal.bizID,
      rti: principal.tokenID,
      ...(principal.kind === "user" && { region: principal.region }),
      iss: this.#issuer,
      aud: AUDIENCES[principal.kind],
      sub: principal.kind === "user" ? principal.userID : principal.bizID,
      jti: randomUUID(),
      iat: seconds,
      exp: seconds + LIFETIME_SECONDS,
    });
  }

  /**
   * Verifies an access token. It does not check whether the token is revoked, because `RefreshTokenStore.refusalOf`
   * does.
   * @param kind the only accepted kind of principal
   * @throws ServiceError ACCESS_TOKEN_EXPIRED, ACCESS_TOKEN_KIND, ACCESS_TOKEN_INVALID
   */
  async verify<Kind extends Principal["kind"]>(token: string, kind: Kind, now: number): Promise<PrincipalOf<Kind>> {
    if (token.length > MAX_CHARACTERS) throw invalid();
    const known = this.#verified.get(token);
    if (known !== undefined && known.expires <= now) throw expired();
    const { principal } = known ?? (await this.#verifySignature(token, now));
    if (principal.kind === kind) return principal as PrincipalOf<Kind>;
    const message = `This operation requires a ${kind}'s access token. The token in the request is a ${principal.kind}'s.`;
    throw new ServiceError(403, "ACCESS_TOKEN_KIND", message);
  }

  async #verifySignature(token: string, now: number): Promise<VerifiedToken> {
    const { payload } = await jwtVerify(
      token,
      ({ kid }) => {
        const key = this.#keys.verifying.get(kid ?? "");
        if (key === undefined) throw new errors.JWKSNoMatchingKey();
        return key;
      },
      {
        algorithms: [ALGORITHM],
        typ: TYPE,
        issuer: this.#issuer,
        audience: Object.values(AUDIENCES),
        requiredClaims: ["exp", "iat", "sub", "jti", "rti", "biz_id"],
        currentDate: new Date(now),
      },
    ).catch((error: unknown) => {
      throw error instanceof errors.JWTExpired ? expired() : invalid();
    });
    const verified = { principal: toPrincipal(payload), expires: Number(payload.exp) * 1000 };
    this.#verified.set(token, verified);
    return verified;
  }
}

/**
 * Converts a token's claims to a principal. Although the service signed them, they are checked like any other input.
 */
function toPrincipal({ aud, sub, ...claims }: Record<string, unknown>): Principal {
  const { biz_id: bizID, rti: tokenID, region } = claims;
  if (typeof bizID !== "string" || typeof tokenID !== "string") throw invalid();
  if (aud === AUDIENCES.partner && sub === bizID) return { kind: "partner", bizID, tokenID };
  if (aud === AUDIENCES.user && isUserID(sub) && isRegion(region))
    return { kind: "user", bizID, tokenID, userID: sub, region };
  throw invalid();
}

function invalid(): ServiceError {
  const message =
    "The token is not a valid access token of this service. Exchange your server token or refresh token for a new access token.";
  return new ServiceError(401, "ACCESS_TOKEN_INVALID", message);
}

function expired(): ServiceError {
  const message = "The access token has expired. Exchange your server token or refresh token for a new access token.";
  return new ServiceError(401, "ACCESS_TOKEN_EXPIRED", message);
}
