import { ServiceError } from "../errors.ts";
import { AccessToken } from "./accessToken.ts";
import { ANSWER } from "./answers.ts";
import { type OperationCall, operationCaller, type OperationOptions } from "./callOperation.ts";
import type { CheckedOptions } from "./options.ts";

/** The codes with which the service refuses an access token that a new one can replace. */
const REPLACEABLE = new Set(["ACCESS_TOKEN_EXPIRED", "ACCESS_TOKEN_INVALID"]);

/** Calls operations with access tokens, for which it exchanges the refresh token when necessary. */
export class ServiceSession {
  readonly #call: OperationCall;
  readonly #accessToken: AccessToken;

  /** @param refreshToken a server's or a user's */
  constructor(options: CheckedOptions, refreshToken: string) {
    this.#call = operationCaller(options);
    const request = { biz_id: options.bizId, token: refreshToken };
    // Without a signal: every caller that waits for the exchange shares it.
    const exchange = async () => {
      const answer = await this.#call("/v1/public/auth/jwt", request, {});
      return ANSWER.secret("jwt", ANSWER.fields("The answer", answer, ["jwt"]).jwt, /^[\w.-]+$/);
    };
    this.#accessToken = new AccessToken(exchange, options.now);
  }

  /**
   * As `OperationCall`. If the service refuses the access token, repeats the call once with a new one.
   * @throws ServiceError, TransportError as `OperationCall`
   */
  async call(path: string, body: object, options: Omit<OperationOptions, "accessToken">): Promise<unknown> {
    const accessToken = await this.#accessToken.get(options.signal);
    try {
      return await this.#call(path, body, { ...options, accessToken });
    } catch (error) {
      if (!(error instanceof ServiceError && REPLACEABLE.has(error.code))) throw error;
      const replacement = await this.#accessToken.replace(accessToken, options.signal);
      return this.#call(path, body, { ...options, accessToken: replacement });
    }
  }
}
