import { base64ToBytes } from "../bytes/base64.ts";
import { decodeUtf8 } from "../engine/utf8.ts";
import { TransportError } from "../errors.ts";
import { isObject } from "../input/json.ts";
import { rejectOnAbort } from "./abort.ts";

/** An access token is replaced this many ms before it expires, or a tenth of its lifetime before if that is less. */
const MARGIN_MS = 60_000;

/** A JWT in compact form (RFC 7519), which a header can hold. The group is its payload. */
const JWT = /^[\w-]+\.([\w-]+)\.[\w-]+$/;
const MAX_CHARACTERS = 8192;

/**
 * The access token of a client: kept while it is valid, then replaced. Concurrent callers share one exchange of the
 * refresh token.
 */
export class AccessToken {
  readonly #exchange: () => Promise<string>;
  readonly #now: () => number;
  #current: { jwt: string; replaceAt: number } | undefined;
  #exchanging: Promise<string> | undefined;

  /**
   * @param exchange exchanges the refresh token for an access token, a JWT
   * @param now returns ms since 1970
   */
  constructor(exchange: () => Promise<string>, now: () => number) {
    this.#exchange = exchange;
    this.#now = now;
  }

  /**
   * Returns a valid access token.
   * @param signal ends the wait of this caller, not the exchange that others wait for
   * @throws TransportError SERVICE_ANSWER_INVALID, ABORTED; and as the exchange
   */
  async get(signal?: AbortSignal): Promise<string> {
    if (this.#current !== undefined && this.#now() < this.#current.replaceAt) return this.#current.jwt;
    this.#exchanging ??= this.#renew().finally(() => {
      this.#exchanging = undefined;
    });
    // Every waiting caller gets the error. Node must not see an unhandled rejection if all of them have aborted.
    this.#exchanging.catch(() => undefined);
    return rejectOnAbort(this.#exchanging, signal);
  }

  /** Returns an access token other than the refused one. @throws as `get` */
  async replace(refused: string, signal?: AbortSignal): Promise<string> {
    if (this.#current?.jwt === refused) this.#current = undefined;
    return this.get(signal);
  }

  async #renew(): Promise<string> {
    const requestedAt = this.#now();
    const jwt = await this.#exchange();
    const lifetime = lifetimeOf(jwt);
    this.#current = { jwt, replaceAt: requestedAt + lifetime - Math.min(MARGIN_MS, lifetime / 10) };
    return jwt;
  }
}

/**
 * The lifetime of a new access token in ms, by its own claims: `exp` less `iat`, because the clocks of client and
 * service may differ. Only the service can verify the signature.
 * @throws TransportError SERVICE_ANSWER_INVALID
 */
function lifetimeOf(jwt: string): number {
  const claims = jwt.length <= MAX_CHARACTERS ? parseClaims(JWT.exec(jwt)?.[1]) : {};
  const { iat, exp } = claims;
  if (typeof iat === "number" && typeof exp === "number" && exp > iat) return (exp - iat) * 1000;
  const message = "The service's access token must be a JWT with the numbers iat and exp, and exp must be greater.";
  throw new TransportError("SERVICE_ANSWER_INVALID", message);
}

function parseClaims(payload = ""): Record<string, unknown> {
  try {
    // base64url without padding (RFC 7515, section 2).
    const base64 = payload.replace(/-/g, "+").replace(/_/g, "/");
    const bytes = base64ToBytes(base64.padEnd(4 * Math.ceil(base64.length / 4), "="));
    const claims: unknown = JSON.parse(decodeUtf8(bytes));
    return isObject(claims) ? claims : {};
  } catch {
    // `lifetimeOf` throws an error without the parser's message, which may quote the token.
    return {};
  }
}
