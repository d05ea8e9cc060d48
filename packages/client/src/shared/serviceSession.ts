import type { UserID } from "keyroot/internal/formats";
import { ServiceError } from "../errors.ts";
import { AccessToken } from "./accessToken.ts";
import { object, secret } from "./answers.ts";
import { operationCaller } from "./callOperation.ts";
import type { SendOperation } from "./operationClient.ts";
import type { AnswerOf } from "./operations.ts";
import type { CheckedOptions } from "./options.ts";

/** The error codes of a rejected access token that the client can replace. */
const REPLACEABLE = new Set(["ACCESS_TOKEN_EXPIRED", "ACCESS_TOKEN_INVALID"]);

const exchanged = object<AnswerOf<"/v1/public/auth/jwt">>({ jwt: secret(/^[\w.-]+$/) });

/**
 * Returns a function that calls operations with an access token. It exchanges the refresh token for an access token
 * when necessary. If the service rejects the access token as expired or invalid, the operation is repeated once with a
 * new one.
 * @param refreshToken a server token or a user refresh token
 * @param userID the user to whom the refresh token must belong. Default: any user
 */
export function sessionOf(options: CheckedOptions, refreshToken: string, userID?: UserID): SendOperation {
  const call = operationCaller(options);
  const request = { biz_id: options.bizID, token: refreshToken };
  const exchange = async () => {
    // The request has no signal, because all waiting callers share it.
    const { jwt } = exchanged("answer", await call("/v1/public/auth/jwt", request, {}));
    return jwt;
  };
  const token = new AccessToken(exchange, options.now, userID);
  return async (path, body, options) => {
    const accessToken = await token.get(options.signal);
    try {
      return await call(path, body, { ...options, accessToken });
    } catch (error) {
      if (!(error instanceof ServiceError && REPLACEABLE.has(error.code))) throw error;
      return call(path, body, { ...options, accessToken: await token.replace(accessToken, options.signal) });
    }
  };
}
