import { ServiceError } from "../errors.ts";
import { AccessToken } from "./accessToken.ts";
import { ANSWER } from "./answers.ts";
import type { CheckedOptions } from "./options.ts";
import { type Post, poster, type PostOptions } from "./post.ts";

/** Another access token helps where the service says this of the one that it was shown. */
const REPLACEABLE = new Set(["ACCESS_TOKEN_EXPIRED", "ACCESS_TOKEN_INVALID"]);

/** Calls operations with the access tokens of one refresh token, which it exchanges by itself. */
export class ServiceSession {
  readonly #post: Post;
  readonly #accessToken: AccessToken;

  /** @param refreshToken a server's or a user's */
  constructor(options: CheckedOptions, refreshToken: string) {
    this.#post = poster(options);
    const request = { biz_id: options.bizId, token: refreshToken };
    // Without a signal: all who wait for an exchange share it.
    const exchange = async () => {
      const answer = await this.#post("/v1/public/auth/jwt", request, {});
      return ANSWER.secret("jwt", ANSWER.fields("The answer", answer, ["jwt"]).jwt, /^[\w.-]+$/);
    };
    this.#accessToken = new AccessToken(exchange, options.now);
  }

  /**
   * As `Post`. An access token that is refused is replaced once.
   * @throws ServiceError, TransportError as `Post`
   */
  async call(path: string, body: object, options: Omit<PostOptions, "accessToken">): Promise<unknown> {
    const accessToken = await this.#accessToken.get(options.signal);
    try {
      return await this.#post(path, body, { ...options, accessToken });
    } catch (error) {
      if (!(error instanceof ServiceError && REPLACEABLE.has(error.code))) throw error;
      const another = await this.#accessToken.replace(accessToken, options.signal);
      return this.#post(path, body, { ...options, accessToken: another });
    }
  }
}
