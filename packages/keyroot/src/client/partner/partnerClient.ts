import { insistOn, readShadowUser, type ShadowUser } from "../answers.ts";
import { type CallOptions, checkOptions, checkRefreshToken, type ClientOptions, invalidOption } from "../options.ts";
import { ServiceSession } from "../serviceSession.ts";
import { describeValue } from "../../input/describeValue.ts";
import { ArgumentError, TransportError } from "../../errors.ts";
import type { Region } from "../../identity/region.ts";
import { parseUserID, type UserID, userIDFromHex, userIDToHex } from "../../identity/userID.ts";
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

/** Where the service is, and who asks. */
export interface PartnerClientOptions extends ClientOptions {
  /** A server's refresh token (specification, "Server refresh token"): it never expires, so keep it on servers. */
  serverToken: string;
}

const PATH = "/v1/authdBizSrv";

/**
 * A partner's back end as the service knows it: creates shadow users, and makes, lists and revokes refresh tokens.
 *
 * It exchanges its server token for access tokens by itself. Every operation may be sent again without harm, and is: after
 * a network error, a timeout, and the statuses 429, 502, 503 and 504. User ids are taken as 32 characters of zBase32 or
 * as 40 hex digits, of either case.
 *
 * Each operation throws ServiceError with the service's code where it refuses; TransportError UNREACHABLE, TIMEOUT,
 * REDIRECT_REFUSED, ANSWER_TOO_LARGE, SERVICE_ANSWER_INVALID where it does not answer, or not in its own form, and
 * ABORTED; ArgumentError USER_ID_INVALID.
 */
export class PartnerClient {
  readonly #session: ServiceSession;

  /** @throws ArgumentError BROWSER_REFUSED, ARGUMENT_INVALID */
  constructor(options: PartnerClientOptions) {
    refuseBrowsers();
    this.#session = new ServiceSession(
      checkOptions(options),
      checkRefreshToken("serverToken", options.serverToken, "krs_"),
    );
  }

  /**
   * Creates a shadow user. The same user in the same region again is answered again; a different region, or an id that
   * somebody else has, is USER_ID_TAKEN.
   */
  async createUser(userID: string, region: Region, { signal }: CallOptions = {}): Promise<CreatedUser> {
    const id = userIDOf(userID);
    const answer = await this.#call("users/create", { user_id_hex: userIDToHex(id), region }, { signal });
    const user = readCreatedUser(answer);
    insistOn("user", id, user.user_id);
    insistOn("region", region, user.region);
    return user;
  }

  /**
   * Makes a refresh token for a user, to hand to the user's app; it is shown this once.
   * @param context the device or purpose, 200 characters at the most
   * @param options `idempotencyKey`, 32 to 128 visible ASCII characters: within 24 hours the same key and request make
   * one token, and answer it again. Default a random one, kept over this call's own retries
   * @throws ArgumentError IDEMPOTENCY_KEY_INVALID
   */
  async createRefreshToken(
    userID: string,
    context: string,
    { idempotencyKey = crypto.randomUUID(), signal }: CallOptions & { idempotencyKey?: string | undefined } = {},
  ): Promise<string> {
    checkIdempotencyKey(idempotencyKey);
    const body = { user_id_hex: userIDToHex(userIDOf(userID)), context };
    return readToken(await this.#call("users/createRefreshToken", body, { idempotencyKey, signal }));
  }

  /** Looks a user up. */
  async getUser(userID: string, { signal }: CallOptions = {}): Promise<ShadowUser> {
    const id = userIDOf(userID);
    const user = readShadowUser("user", await this.#call("users/get", { user_id_hex: userIDToHex(id) }, { signal }));
    insistOn("user", id, user.user_id);
    return user;
  }

  /**
   * All of this partner's users. They are asked for page by page, as they are taken.
   * @param options `pageSize`, users a request, 1 to 1,000; `after`, the user id after which to begin
   * @throws ArgumentError ARGUMENT_INVALID
   */
  async *listUsers({ pageSize = 100, after, signal }: ListOptions = {}): AsyncGenerator<ShadowUser, void, undefined> {
    if (!Number.isSafeInteger(pageSize) || pageSize < 1 || pageSize > 1000) {
      throw invalidOption("pageSize", "a whole number from 1 to 1,000", pageSize);
    }
    let from = after === undefined ? undefined : userIDOf(after);
    for (;;) {
      const body = { limit: pageSize, ...(from !== undefined && { after: from }) };
      const { users, next } = readUserPage(await this.#call("users/list", body, { signal }), pageSize);
      yield* users;
      if (next === null) return;
      if (next === from || users.length === 0) {
        throw new TransportError("SERVICE_ANSWER_INVALID", "The service's list of users does not go on.");
      }
      from = next;
    }
  }

  /** A user's refresh tokens, revoked ones among them. */
  async listRefreshTokens(userID: string, { signal }: CallOptions = {}): Promise<RefreshToken[]> {
    const body = { user_id_hex: userIDToHex(userIDOf(userID)) };
    return readTokens(await this.#call("users/listRefreshTokens", body, { signal }), readRefreshToken);
  }

  /** Revokes a user's refresh token, and with it its access tokens, at once. Again: the same answer. */
  async revokeRefreshToken(userID: string, tokenID: string, { signal }: CallOptions = {}): Promise<RefreshToken> {
    const body = { user_id_hex: userIDToHex(userIDOf(userID)), token_id: tokenID };
    const token = readRefreshToken("token", await this.#call("users/revokeRefreshToken", body, { signal }));
    insistOn("token", tokenID, token.token_id);
    return token;
  }

  /** This partner's server tokens, revoked ones among them. */
  async listServerTokens({ signal }: CallOptions = {}): Promise<ServerToken[]> {
    return readTokens(await this.#call("serverTokens/list", {}, { signal }), readServerToken);
  }

  /**
   * Revokes a server token, and with it its access tokens, at once. The client's own, too: ACCESS_TOKEN_REVOKED may be all
   * that is heard of it, where the answer was lost on its way.
   */
  async revokeServerToken(tokenID: string, { signal }: CallOptions = {}): Promise<ServerToken> {
    const token = readServerToken("token", await this.#call("serverTokens/revoke", { token_id: tokenID }, { signal }));
    insistOn("token", tokenID, token.token_id);
    return token;
  }

  /** Creates users with a refresh token each, as many as there are: see `provision` in docs/http-api.md. */
  provision<User extends UserToProvision>(
    users: Iterable<User> | AsyncIterable<User>,
    options: ProvisionOptions,
  ): AsyncGenerator<ProvisionOutcome<User>, void, undefined> {
    return provision(this, users, options);
  }

  #call(operation: string, body: object, options: CallOptions & { idempotencyKey?: string }): Promise<unknown> {
    return this.#session.call(`${PATH}/${operation}`, body, options);
  }
}

/** How to go through a partner's users. */
export interface ListOptions extends CallOptions {
  pageSize?: number | undefined;
  after?: string | undefined;
}

/** A user id from zBase32 or hex. @throws ArgumentError USER_ID_INVALID */
function userIDOf(text: string): UserID {
  return /^[0-9a-f]{40}$/i.test(text) ? userIDFromHex(text.toLowerCase()) : parseUserID(text);
}

function checkIdempotencyKey(key: unknown): void {
  if (typeof key === "string" && /^[\x21-\x7e]{32,128}$/.test(key)) return;
  const message = `The idempotency key must be 32 to 128 visible ASCII characters, it is ${describeValue(key)}.`;
  throw new ArgumentError("IDEMPOTENCY_KEY_INVALID", message);
}

/** A server token that reached a browser is everybody's. */
function refuseBrowsers(): void {
  const { process, document, importScripts } = globalThis as Record<string, unknown>;
  if (process !== undefined && document === undefined && importScripts === undefined) return;
  const message =
    "keyroot/partner holds a token that never expires: run it in Node, on a server. Apps take keyroot/user.";
  throw new ArgumentError("BROWSER_REFUSED", message);
}
