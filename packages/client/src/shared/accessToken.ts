import { base64ToBytes } from "keyroot/internal/bytes";
import { decodeUtf8 } from "keyroot/internal/engine";
import { ArgumentError, TransportError } from "../errors.ts";
import { isUserID, type UserID } from "keyroot/internal/formats";
import { isObject } from "keyroot/internal/input";
import { rejectOnAbort } from "keyroot/internal/transport";

/**
 * The time in ms before its expiry at which an access token is replaced. A token with a short lifetime is replaced
 * after 90% of it.
 */
const MARGIN_MS = 60_000;

/** Matches a JWT in compact form (RFC 7519) that an HTTP header can contain. The group is the payload. */
const JWT = /^[\w-]+\.([\w-]+)\.[\w-]+$/;
const MAX_CHARACTERS = 8192;

/**
 * A client's access token. It is replaced shortly before it expires. Callers that need a new token at the same time
 * share one exchange of the refresh token.
 */
export class AccessToken {
  readonly #exchange: () => Promise<string>;
  readonly #now: () => number;
  readonly #userID: UserID | undefined;
  #current: { jwt: string; replaceAt: number } | undefined;
  #exchanging: Promise<string> | undefined;

  /**
   * @param exchange exchanges the refresh token for an access token in JWT form
   * @param now returns the current time in ms since 1970
   * @param userID the user that the app expects. Default: any user
   */
  constructor(exchange: () => Promise<string>, now: () => number, userID?: UserID) {
    this.#exchange = exchange;
    this.#now = now;
    this.#userID = userID;
  }

  /**
   * Returns a valid access token.
   * @param signal ends only this caller's wait. The exchange of the token continues for other callers.
   * @throws TransportError SERVICE_ANSWER_INVALID or ABORTED, or an error of the exchange
   * @throws ArgumentError ARGUMENT_INVALID if the token is another user's
   */
  async get(signal?: AbortSignal): Promise<string> {
    if (this.#current !== undefined && this.#now() < this.#current.replaceAt) return this.#current.jwt;
    this.#exchanging ??= this.#renew().finally(() => {
      this.#exchanging = undefined;
    });
    // After all callers have aborted, this handler prevents an unhandled rejection. Each waiting caller still receives
    // the error.
    this.#exchanging.catch(() => undefined);
    return rejectOnAbort(this.#exchanging, signal);
  }

  /** Returns an access token that differs from the rejected token. @throws the errors of `get` */
  async replace(refused: string, signal?: AbortSignal): Promise<string> {
    if (this.#current?.jwt === refused) this.#current = undefined;
    return this.get(signal);
  }

  async #renew(): Promise<string> {
    const requestedAt = this.#now();
    const jwt = await this.#exchange();
    const claims = jwt.length <= MAX_CHARACTERS ? parseClaims(JWT.exec(jwt)?.[1]) : {};
    const lifetime = lifetimeOf(claims);
    const owner = claims["sub"];
    if (this.#userID !== undefined && isUserID(owner) && owner !== this.#userID) {
      const message = `The refresh token is the user ${owner}'s, but the userID option is ${this.#userID}. Use the token and the id of the same user.`;
      throw new ArgumentError("ARGUMENT_INVALID", message);
    }
    this.#current = { jwt, replaceAt: requestedAt + lifetime - Math.min(MARGIN_MS, lifetime / 10) };
    return jwt;
  }
}

/**
 * Returns the lifetime of a new access token in ms, which is its `exp` claim minus its `iat` claim. The local clock is
 * not used, because it may differ from the service's clock. The token's signature is not verified, because only the
 * service can do so.
 * @throws TransportError SERVICE_ANSWER_INVALID
 */
function lifetimeOf({ iat, exp }: Record<string, unknown>): number {
  if (typeof iat === "number" && typeof exp === "number" && exp > iat) return (exp - iat) * 1000;
  const message = "The service's access token must be a JWT with an exp that is greater than its iat.";
  throw new TransportError("SERVICE_ANSWER_INVALID", message);
}

function parseClaims(payload = ""): Record<string, unknown> {
  try {
    // The payload is base64url without padding (RFC 7515, section 2).
    const base64 = payload.replace(/-/g, "+").replace(/_/g, "/");
    const bytes = base64ToBytes(base64.padEnd(4 * Math.ceil(base64.length / 4), "="));
    const claims: unknown = JSON.parse(decodeUtf8(bytes));
    return isObject(claims) ? claims : {};
  } catch {
    // The parser's error may contain the token, so `lifetimeOf` throws one without it.
    return {};
  }
}
