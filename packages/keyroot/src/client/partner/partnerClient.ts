import { checkSubject, readShadowUser, type ShadowUser } from "../answers.ts";
import {
  type CallOptions,
  checkCallOptions,
  checkIdempotencyKey,
  checkOptions,
  checkRefreshToken,
  type ClientOptions,
} from "../options.ts";
import { refuseBrowsers } from "../refuseBrowsers.ts";
import { ServiceSession } from "../serviceSession.ts";
import { TransportError } from "../../errors.ts";
import type { Region } from "../../identity/region.ts";
import { parseUserID, type UserID, userIDFromHex, userIDToHex } from "../../identity/userID.ts";
import { checkInteger, checkText } from "../../input/options.ts";
import {
  type CreatedUser,
  readCreatedUser,
  readRefreshToken,
  readServerToken,
  readToken,
  readTokens,
  readUserPage,
  type RefreshToken,
  type ServerToken,
} from "./answers.ts";
import { provision, type ProvisionOptions, type ProvisionOutcome, type UserToProvision } from "./provision.ts";

/** Which service to call, as which partner. */
export interface PartnerClientOptions extends ClientOptions {
  /** A server's refresh token (specification, "Server refresh token"). It never expires: keep it on servers. */
  serverToken: string;
}

/** Options of `PartnerClient.listUsers`. */
export interface ListOptions extends CallOptions {
  /** How many users to request at once, 1 to 1,000. Default 100. */
  pageSize?: number | undefined;
  /** The id after which the list begins: 32 characters of zBase32, or 40 hex digits. Default: the first user. */
  after?: string | undefined;
}

/** Options of `PartnerClient.createRefreshToken`. */
export interface CreateTokenOptions extends CallOptions {
  /**
   * 32 to 128 visible ASCII characters. For 24 hours, the same key with the same request returns the same token.
   * Default: a random key for each call, which all retries of the call share.
   */
  idempotencyKey?: string | undefined;
}

const PATH = "/v1/authdBizSrv";

/**
 * The client for a partner's back end: creates shadow users; creates, lists and revokes refresh tokens.
 *
 * It exchanges its server token for access tokens when necessary. Every operation is idempotent, so the client repeats
 * it after a network error, a timeout, and the statuses 429, 502, 503 and 504. User ids are 32 characters of zBase32,
 * or 40 hex digits in any case.
 *
 * Every operation throws ServiceError with the service's code if the service refuses; TransportError UNREACHABLE,
 * TIMEOUT, REDIRECT_REFUSED, ANSWER_TOO_LARGE or SERVICE_ANSWER_INVALID if the service does not answer or its answer is
 * malformed; TransportError ABORTED; ArgumentError USER_ID_INVALID and ARGUMENT_INVALID.
 *
 * @example
 * const partner = new PartnerClient({ baseUrl: "https://keys.example", bizId, serverToken });
 * const { user_id } = await partner.createUser(userIDHex, "eu-west-1");
 * const refreshToken = await partner.createRefreshToken(user_id, "phone");
 */
export class PartnerClient {
  readonly #session: ServiceSession;

  /** @throws ArgumentError BROWSER_REFUSED, ARGUMENT_INVALID */
  constructor(options: PartnerClientOptions) {
    refuseBrowsers(
      "keyroot/partner holds a token that never expires: run it in Node, on a server. Use keyroot/user in apps.",
    );
    const checked = checkOptions(options, "serverToken");
    this.#session = new ServiceSession(checked, checkRefreshToken("serverToken", options.serverToken, "krs_"));
  }

  /**
   * Creates a shadow user, or returns it if it exists in this region. If it exists in another region, or the id belongs
   * to another partner, the service refuses with USER_ID_TAKEN.
   */
  async createUser(userID: string, region: Region, options: CallOptions = {}): Promise<CreatedUser> {
    const id = toUserID(userID);
    const body = { user_id_hex: userIDToHex(id), region: checkText("The argument region", region) };
    const user = readCreatedUser(await this.#call("users/create", body, options));
    checkSubject("user", id, user.user_id);
    checkSubject("region", region, user.region);
    return user;
  }

  /**
   * Creates a refresh token for a user's app. The service shows it this once.
   * @param context the device or purpose, at most 200 characters
   * @throws ArgumentError IDEMPOTENCY_KEY_INVALID
   */
  async createRefreshToken(userID: string, context: string, options: CreateTokenOptions = {}): Promise<string> {
    const { signal, ...checked } = checkCallOptions(options, "idempotencyKey");
    const idempotencyKey = checkIdempotencyKey(checked.idempotencyKey);
    const body = { user_id_hex: userIDToHex(toUserID(userID)), context: checkText("The argument context", context) };
    return readToken(await this.#call("users/createRefreshToken", body, { signal }, idempotencyKey));
  }

  /** Returns a user. */
  async getUser(userID: string, options: CallOptions = {}): Promise<ShadowUser> {
    const id = toUserID(userID);
    const user = readShadowUser("user", await this.#call("users/get", { user_id_hex: userIDToHex(id) }, options));
    checkSubject("user", id, user.user_id);
    return user;
  }

  /** Iterates over all users of the partner. Requests a page when the caller needs its first user. */
  async *listUsers(options: ListOptions = {}): AsyncGenerator<ShadowUser, void, undefined> {
    const { pageSize = 100, after, signal } = checkCallOptions(options, "pageSize", "after");
    checkInteger("The option pageSize", pageSize, 1, 1000);
    let from = after === undefined ? undefined : toUserID(after);
    for (;;) {
      const body = { limit: pageSize, ...(from !== undefined && { after: from }) };
      const { users, next } = readUserPage(await this.#call("users/list", body, { signal }), pageSize);
      yield* users;
      if (next === null) return;
      if (next === from || users.length === 0) {
        throw new TransportError("SERVICE_ANSWER_INVALID", "The service's list of users does not advance.");
      }
      from = next;
    }
  }

  /** Returns a user's refresh tokens, including revoked ones: their metadata, not the tokens themselves. */
  async listRefreshTokens(userID: string, options: CallOptions = {}): Promise<RefreshToken[]> {
    const body = { user_id_hex: userIDToHex(toUserID(userID)) };
    return readTokens(await this.#call("users/listRefreshTokens", body, options), readRefreshToken);
  }

  /** Revokes a user's refresh token and its access tokens immediately. Repeating the call has no effect. */
  async revokeRefreshToken(userID: string, tokenID: string, options: CallOptions = {}): Promise<RefreshToken> {
    const body = { user_id_hex: userIDToHex(toUserID(userID)), token_id: checkText("The argument tokenID", tokenID) };
    const token = readRefreshToken("token", await this.#call("users/revokeRefreshToken", body, options));
    checkSubject("token", tokenID, token.token_id);
    return token;
  }

  /** Returns the partner's server tokens, including revoked ones: their metadata, not the tokens themselves. */
  async listServerTokens(options: CallOptions = {}): Promise<ServerToken[]> {
    return readTokens(await this.#call("serverTokens/list", {}, options), readServerToken);
  }

  /**
   * Revokes a server token and its access tokens immediately. A client can revoke its own token. If that answer is
   * lost, the retry fails with ACCESS_TOKEN_REVOKED.
   */
  async revokeServerToken(tokenID: string, options: CallOptions = {}): Promise<ServerToken> {
    const body = { token_id: checkText("The argument tokenID", tokenID) };
    const token = readServerToken("token", await this.#call("serverTokens/revoke", body, options));
    checkSubject("token", tokenID, token.token_id);
    return token;
  }

  /**
   * Creates users with one refresh token each. Yields outcomes as they become available, not in the order of the list.
   * Reads the list only as far as it works on it, so the list can have any length. Work stops when the caller stops
   * iterating.
   *
   * A user that the service refuses is an outcome with `error`. A failure that every later user would have, too, ends
   * the run. To continue a run that ended early (by an error, by `signal` or with its process), run the whole list
   * again with the same `runId` within 24 hours of the first run: each user gets the same token as before.
   * @throws ArgumentError ARGUMENT_INVALID, SECRET_TOO_SHORT; TransportError; ServiceError with the status 401, 429,
   * 502, 503 or 504; and what the list throws
   * @example
   * for await (const outcome of partner.provision(users, { runId, context: "first device" })) {
   *   if ("token" in outcome) await sendToApp(outcome.user, outcome.token);
   *   else console.error(outcome.user.userID, outcome.error.code);
   * }
   */
  provision<User extends UserToProvision>(
    users: Iterable<User> | AsyncIterable<User>,
    options: ProvisionOptions,
  ): AsyncGenerator<ProvisionOutcome<User>, void, undefined> {
    return provision(this, users, options);
  }

  #call(operation: string, body: object, options: CallOptions, idempotencyKey?: string): Promise<unknown> {
    const { signal } = checkCallOptions(options);
    return this.#session.call(`${PATH}/${operation}`, body, { signal, ...(idempotencyKey && { idempotencyKey }) });
  }
}

/** A user id from zBase32 or hex. @throws ArgumentError USER_ID_INVALID */
function toUserID(text: string): UserID {
  const isHex = typeof text === "string" && /^[0-9a-f]{40}$/i.test(text);
  return isHex ? userIDFromHex(text.toLowerCase()) : parseUserID(text);
}
