import { base64urlnopad } from "@scure/base";
import { TransportError } from "../errors.ts";
import { isObject } from "../input/json.ts";
import { unlessAborted } from "./unlessAborted.ts";

/** An access token is exchanged anew this long before it expires, or a tenth of its life where that is less; in ms. */
const MARGIN_MS = 60_000;

/** A JWT (RFC 7519) in its compact form: it can stand in a header. */
const JWT = /^[\w-]+\.([\w-]+)\.[\w-]+$/;
const MOST_CHARACTERS = 8192;

/**
 * The access token of a client, as long as it is good, and then the next one. However many ask at once, there is one
 * exchange, for which all of them wait.
 */
export class AccessToken {
  readonly #exchange: () => Promise<string>;
  readonly #now: () => number;
  #held: { jwt: string; renewAt: number } | undefined;
  #exchanging: Promise<string> | undefined;

  /**
   * @param exchange exchanges the refresh token for an access token, a JWT
   * @param now milliseconds since 1970
   */
  constructor(exchange: () => Promise<string>, now: () => number) {
    this.#exchange = exchange;
    this.#now = now;
  }

  /**
   * A token that should be good for a while yet.
   * @param signal ends this caller's wait, not the exchange that others wait for
   * @throws TransportError SERVICE_ANSWER_INVALID, ABORTED; and as the exchange
   */
  async get(signal?: AbortSignal): Promise<string> {
    if (this.#held !== undefined && this.#now() < this.#held.renewAt) return this.#held.jwt;
    this.#exchanging ??= this.#renew().finally(() => {
      this.#exchanging = undefined;
    });
    // Whoever waits is told of a failure; it may be that nobody waits any more.
    this.#exchanging.catch(() => undefined);
    return unlessAborted(this.#exchanging, signal);
  }

  /** The token that follows on one that was refused. @throws as `get` */
  async replace(refused: string, signal?: AbortSignal): Promise<string> {
    if (this.#held?.jwt === refused) this.#held = undefined;
    return this.get(signal);
  }

  async #renew(): Promise<string> {
    const asked = this.#now();
    const jwt = await this.#exchange();
    const life = lifeOf(jwt);
    this.#held = { jwt, renewAt: asked + life - Math.min(MARGIN_MS, life / 10) };
    return jwt;
  }
}

/**
 * How long a fresh access token is good for, in ms, by its own words: only the service can judge its signature. The life,
 * and not the hour of its end, since the clocks here and there may differ.
 * @throws TransportError SERVICE_ANSWER_INVALID
 */
function lifeOf(jwt: string): number {
  const claims = jwt.length <= MOST_CHARACTERS ? parseClaims(JWT.exec(jwt)?.[1]) : {};
  const { iat, exp } = claims;
  if (typeof iat === "number" && typeof exp === "number" && exp > iat) return (exp - iat) * 1000;
  const message = "The service's access token must be a JWT with the numbers iat and exp, the later one greater.";
  throw new TransportError("SERVICE_ANSWER_INVALID", message);
}

function parseClaims(payload = ""): Record<string, unknown> {
  try {
    const claims: unknown = JSON.parse(new TextDecoder().decode(base64urlnopad.decode(payload)));
    return isObject(claims) ? claims : {};
  } catch {
    // Told by lifeOf, without the parser's words, which may quote the token.
    return {};
  }
}
