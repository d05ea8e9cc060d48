import { randomUUID } from "node:crypto";
import { errors, jwtVerify, SignJWT } from "jose";
import { LRUCache } from "lru-cache";
import { ServiceError } from "keyroot/errors";
import { isUserID, type UserID } from "keyroot/identity";
import { isRegion, type Region } from "keyroot/identity";
import { ALGORITHM, type SigningKeys } from "./signingKeys.ts";

/** How long an access token is good for, in seconds: 4 hours (specification, "Limits"). */
const ACCESS_TOKEN_SECONDS = 4 * 60 * 60;
/** The `typ` of access tokens (RFC 9068, section 2.1). */
const TYPE = "at+jwt";
/** Longer texts are no access tokens of ours, and are not looked at. */
const MOST_CHARACTERS = 2048;

/** Whose an access token is, and which refresh token it was exchanged for. */
export type Bearer =
  | { kind: "partner"; bizID: string; tokenID: string }
  | { kind: "user"; bizID: string; tokenID: string; userID: UserID; region: Region };

/** A token whose signature is good, and until when: milliseconds since 1970. */
interface Verified {
  bearer: Bearer;
  expires: number;
}

/** Some 1 kB each. */
const MOST_REMEMBERED = 10_000;

const AUDIENCES = { partner: "keyroot/partner", user: "keyroot/user" } as const;

/** Signs and verifies access tokens: JWTs (RFC 9068) of one issuer, with an audience for each kind of bearer. */
export class AccessTokens {
  readonly #keys: SigningKeys;
  readonly #issuer: string;
  /** Tokens whose signature was found good: to look at it again would cost more than all the rest of a request. */
  readonly #verified = new LRUCache<string, Verified>({ max: MOST_REMEMBERED });

  /** @param issuer the service's address, as its callers know it */
  constructor(keys: SigningKeys, issuer: string) {
    this.#keys = keys;
    this.#issuer = issuer;
  }

  /** @param now milliseconds since 1970 */
  issue(bearer: Bearer, now: number): Promise<string> {
    const { kid, key } = this.#keys.signing;
    const seconds = Math.floor(now / 1000);
    const user = bearer.kind === "user" ? { region: bearer.region } : {};
    return new SignJWT({ biz_id: bearer.bizID, rti: bearer.tokenID, ...user })
      .setProtectedHeader({ alg: ALGORITHM, kid, typ: TYPE })
      .setIssuer(this.#issuer)
      .setAudience(AUDIENCES[bearer.kind])
      .setSubject(bearer.kind === "user" ? bearer.userID : bearer.bizID)
      .setJti(randomUUID())
      .setIssuedAt(seconds)
      .setExpirationTime(seconds + ACCESS_TOKEN_SECONDS)
      .sign(key);
  }

  /**
   * Who bears this token. Whether its refresh token still stands is for the store to say.
   * @param kind the only kind of bearer that is let in here
   * @param now milliseconds since 1970
   * @throws ServiceError ACCESS_TOKEN_EXPIRED, ACCESS_TOKEN_KIND, ACCESS_TOKEN_INVALID
   */
  async verify<Kind extends Bearer["kind"]>(
    token: string,
    kind: Kind,
    now: number,
  ): Promise<Extract<Bearer, { kind: Kind }>> {
    if (token.length > MOST_CHARACTERS) throw invalid();
    const known = this.#verified.get(token);
    if (known !== undefined && known.expires <= now) throw expired();
    const { bearer } = known ?? (await this.#verify(token, now));
    if (bearer.kind === kind) return bearer as Extract<Bearer, { kind: Kind }>;
    const message = `This operation takes the access token of a ${kind}, not of a ${bearer.kind}.`;
    throw new ServiceError(403, "ACCESS_TOKEN_KIND", message);
  }

  async #verify(token: string, now: number): Promise<Verified> {
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
    const verified = { bearer: toBearer(payload), expires: Number(payload.exp) * 1000 };
    this.#verified.set(token, verified);
    return verified;
  }
}

/** Our signature stands under these claims; still they are read like any other input. */
function toBearer({ aud, sub, ...claims }: Record<string, unknown>): Bearer {
  const { biz_id: bizID, rti: tokenID, region } = claims;
  if (typeof bizID !== "string" || typeof tokenID !== "string") throw invalid();
  if (aud === AUDIENCES.partner && sub === bizID) return { kind: "partner", bizID, tokenID };
  if (aud === AUDIENCES.user && isUserID(sub) && isRegion(region))
    return { kind: "user", bizID, tokenID, userID: sub, region };
  throw invalid();
}

function invalid(): ServiceError {
  return new ServiceError(401, "ACCESS_TOKEN_INVALID", "This is not an access token of this service.");
}

function expired(): ServiceError {
  return new ServiceError(401, "ACCESS_TOKEN_EXPIRED", "The access token has expired: exchange a refresh token again.");
}
