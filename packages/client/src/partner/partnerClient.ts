import { about, withValidKey } from "../shared/answers.ts";
import {
  createdUser,
  deactivatedUser,
  erasedUser,
  eventPage,
  keyOfUser,
  refreshToken,
  removedKey,
  serverToken,
  shadowUser,
  userKey,
} from "../shared/answerChecks.ts";
import { AUDIT_FILTER, auditFilterOf, type ListAuditLogOptions, readAuditPage } from "../shared/auditLog.ts";
import { OperationClient } from "../shared/operationClient.ts";
import type {
  AuditEntry,
  CreatedUser,
  DeactivatedUser,
  ErasedUser,
  EventPage,
  KeyOfUser,
  ShadowUser,
  RefreshToken,
  ServerToken,
  UserKey,
} from "../shared/operations.ts";
import {
  type CallOptions,
  checkCallOptions,
  checkCreateOptions,
  checkClientOptions,
  checkRefreshToken,
  type CreateTokenOptions,
  keyOf,
  toUserID,
  userOf,
} from "../shared/options.ts";
import { iteratePages, page } from "../shared/pages.ts";
import { bytesToBase64 } from "keyroot/internal/bytes";
import { refuseBrowsers } from "../shared/refuseBrowsers.ts";
import { sessionOf } from "../shared/serviceSession.ts";
import { checkPublicKey, keyIDOf, type KeyType, type Region, userIDToHex } from "keyroot/internal/formats";
import { checkInteger, checkObject, checkText, invalidArgument, optional } from "keyroot/internal/input";
import { createdToken, createdUsers, type CreateUsersResult, toResults, type UserToCreate } from "./answers.ts";
import {
  MAX_LIST,
  provision,
  type ProvisionOptions,
  type ProvisionOutcome,
  type UserToProvision,
} from "./provision.ts";
import type { ListEventsOptions, ListOptions, ListTokensOptions, PartnerClientOptions } from "./options.ts";
import { PartnerAccounts } from "./accounts.ts";
import { PartnerWebhooks } from "./webhooks.ts";

const userTokenPage = page("tokens", refreshToken);
const serverTokenPage = page("tokens", serverToken);
const userPage = page("users", shadowUser);

/**
 * The client for a partner's back end. It can:
 * - create shadow users
 * - create, list and revoke refresh tokens
 * - discard and approve users' public keys
 * - manage webhooks
 * - read users' accounts, and decide about changes
 *
 * The client exchanges its server token for access tokens when necessary. It repeats a request after a network error, a
 * timeout, or the HTTP status 429, 502, 503 or 504, which is safe because every operation is idempotent. User ids have
 * 32 characters of zBase32, or 40 hex digits in upper or lower case.
 *
 * Every operation can throw these errors:
 * - ServiceError with the service's code, if the service rejects the request
 * - TransportError UNREACHABLE, TIMEOUT, REDIRECT_REFUSED, ANSWER_TOO_LARGE or SERVICE_ANSWER_INVALID, if the client
 *   receives no valid response
 * - TransportError ABORTED, if the signal aborts the call
 * - ArgumentError USER_ID_INVALID or ARGUMENT_INVALID, if an argument or an option is invalid
 *
 * @example
 * const partner = new PartnerClient({ serviceUrl: "https://keys.example", bizID, serverToken });
 * const { user_id } = await partner.createUser(userIDHex, "eu-west-1");
 * const refreshToken = await partner.createUserRefreshToken(user_id, "phone");
 */
export class PartnerClient {
  /** The operations for the partner's webhook endpoints. */
  readonly webhooks: PartnerWebhooks;
  /** The operations on users' accounts. */
  readonly accounts: PartnerAccounts;
  readonly #operations: OperationClient;
  readonly #keyType: KeyType;

  /** @throws ArgumentError BROWSER_REFUSED, ARGUMENT_INVALID */
  constructor(options: PartnerClientOptions) {
    refuseBrowsers(
      "@keyroot/client/partner has a token that never expires, so it must not run in browsers. Run it in Node on a server. Use @keyroot/client/user in apps.",
    );
    const checked = checkClientOptions(options, "serverToken");
    const serverToken = checkRefreshToken("serverToken", options.serverToken, "krs_");
    this.#keyType = checked.keyType;
    this.#operations = new OperationClient(sessionOf(checked, serverToken));
    this.webhooks = new PartnerWebhooks(this.#operations);
    this.accounts = new PartnerAccounts(this.#operations);
  }

  /**
   * Creates a shadow user. If the partner has already created this user in the same region, the result is the existing
   * user. If the user belongs to another region or another partner, the service rejects the request with USER_ID_TAKEN.
   */
  async createUser(userID: string, region: Region, options: CallOptions = {}): Promise<CreatedUser> {
    const { subject, body } = userOf(userID);
    checkText("The region argument", region);
    const check = about({ ...subject, region }, createdUser);
    return this.#operations.call("/v1/authdBizSrv/users/create", { ...body, region }, check, options);
  }

  /**
   * Creates up to 500 users with one request, and a refresh token for each user who has a `context`. For the rate
   * limit, each user counts as one request. For longer lists, use `provision`.
   * @returns the result for each user, in the order of the list
   * @throws ArgumentError IDEMPOTENCY_KEY_INVALID
   * @throws ServiceError if a user in the list is malformed. No user is then created.
   * @example
   * const [result] = await partner.createUsers([{ userID, region: "eu-west-1", context: "phone" }]);
   */
  async createUsers(users: readonly UserToCreate[], options: CreateTokenOptions = {}): Promise<CreateUsersResult[]> {
    const { signal, idempotencyKey } = checkCreateOptions(options);
    if (!Array.isArray(users) || users.length < 1 || users.length > MAX_LIST)
      throw invalidArgument("The list of users", `an array of 1 to ${MAX_LIST} users`, users);
    const wanted = users.map((user: UserToCreate) => {
      const { userID, region, context } = checkObject("A user of the list", user);
      const id = toUserID(userID);
      checkText("A user's region", region);
      return { id, region, context: optional<string>(checkText, "A user's context", context) };
    });
    const body = { users: wanted.map(({ id, ...rest }) => ({ user_id_hex: userIDToHex(id), ...rest })) };
    const check = createdUsers(wanted.length);
    const path = "/v1/authdBizSrv/users/createMany";
    return toResults(await this.#operations.call(path, body, check, { signal }, idempotencyKey), wanted);
  }

  /**
   * Creates a refresh token for a user's app. Store the token, because no other operation returns it.
   * @param context the device or purpose of the token, at most 200 characters
   * @throws ArgumentError IDEMPOTENCY_KEY_INVALID
   */
  async createUserRefreshToken(userID: string, context: string, options: CreateTokenOptions = {}): Promise<string> {
    const { signal, idempotencyKey } = checkCreateOptions(options);
    const body = { ...userOf(userID).body, context: checkText("The context argument", context) };
    const path = "/v1/authdBizSrv/users/createRefreshToken";
    return (await this.#operations.call(path, body, createdToken, { signal }, idempotencyKey)).token;
  }

  /** Returns a user of the partner. */
  async getUser(userID: string, options: CallOptions = {}): Promise<ShadowUser> {
    const { subject, body } = userOf(userID);
    return this.#operations.call("/v1/authdBizSrv/users/get", body, about(subject, shadowUser), options);
  }

  /**
   * Deactivates a user, whose tokens become permanently invalid. The public key remains published. Repeating the call
   * has no effect.
   */
  async deactivateUser(userID: string, options: CallOptions = {}): Promise<DeactivatedUser> {
    const { subject, body } = userOf(userID);
    const check = about(subject, deactivatedUser);
    return this.#operations.call("/v1/authdBizSrv/users/deactivate", body, check, options);
  }

  /**
   * Deactivates a user and permanently deletes the user's data. Only a public key that is published or about to be
   * published is kept. The user id cannot be used again. Repeating the call has no effect.
   */
  async eraseUser(userID: string, options: CallOptions = {}): Promise<ErasedUser> {
    const { subject, body } = userOf(userID);
    return this.#operations.call("/v1/authdBizSrv/users/erase", body, about(subject, erasedUser), options);
  }

  /** Iterates over all users of the partner. Each page is requested only when the caller needs its first user. */
  listUsers(options: ListOptions = {}): AsyncGenerator<ShadowUser, void, undefined> {
    const fields = () => ({ after: options.after === undefined ? undefined : toUserID(options.after) });
    return iteratePages(this.#operations, "/v1/authdBizSrv/users/list", { fields, read: userPage }, options);
  }

  /**
   * Iterates over the descriptions of a user's refresh tokens, including revoked tokens, in the order of creation. The
   * descriptions do not contain the tokens themselves. Each page of the list is requested only when the caller needs
   * it.
   */
  listRefreshTokens(userID: string, options: ListTokensOptions = {}): AsyncGenerator<RefreshToken, void, undefined> {
    const fields = () => ({ ...userOf(userID).body, after: tokenIDAfter(options) });
    const list = { fields, read: userTokenPage };
    return iteratePages(this.#operations, "/v1/authdBizSrv/users/listRefreshTokens", list, options);
  }

  /**
   * Revokes a user's refresh token and all access tokens that were made from it. The tokens become invalid immediately.
   * Repeating the call has no effect.
   */
  async revokeRefreshToken(userID: string, tokenID: string, options: CallOptions = {}): Promise<RefreshToken> {
    const body = { ...userOf(userID).body, token_id: checkText("The tokenID argument", tokenID) };
    const check = about({ token_id: tokenID }, refreshToken);
    return this.#operations.call("/v1/authdBizSrv/users/revokeRefreshToken", body, check, options);
  }

  /** Returns a user's public key and its state, the conflicting keys, and the history of the user's keys. */
  async publicKeyOf(userID: string, options: CallOptions = {}): Promise<KeyOfUser> {
    const { subject, body } = userOf(userID);
    const check = about(subject, withValidKey(keyOfUser, this.#keyType));
    return this.#operations.call("/v1/authdBizSrv/publicKeys/get", body, check, options);
  }

  /**
   * Registers the hash of a user's document, in a registry with the key type `document`. A hash cannot prove who owns
   * it, so the partner authorizes the hash with this call. Each user has only one key, so a different hash is rejected
   * with PUBLIC_KEY_REGISTERED. Repeating the call with the same hash has no effect.
   * @param hash the SHA-256 of the document, 32 bytes
   * @throws ArgumentError as `checkPublicKey`
   */
  async registerDocument(userID: string, hash: Uint8Array, options: CallOptions = {}): Promise<UserKey> {
    checkPublicKey(hash, this.#keyType);
    const { subject, body } = userOf(userID);
    const key = { public_key: bytesToBase64(hash), key_id: bytesToBase64(keyIDOf(hash, this.#keyType)) };
    const check = about({ ...subject, ...key }, withValidKey(userKey, this.#keyType));
    return this.#operations.call("/v1/authdBizSrv/publicKeys/register", { ...body, ...key }, check, options);
  }

  /**
   * Discards a user's `pending` public key, so that the user can register a different one. This is necessary, for
   * example, if someone else registered the key. If the key has already been submitted to the chain, the service
   * rejects the request with PUBLIC_KEY_SUBMITTED. Repeating the call has no effect.
   * @param keyID the id of the key in base64: `key_id` of `publicKeyOf`
   */
  async discardPublicKey(userID: string, keyID: string, options: CallOptions = {}): Promise<void> {
    const { subject, body } = keyOf(userID, keyID);
    const check = about(subject, removedKey);
    await this.#operations.call("/v1/authdBizSrv/publicKeys/discard", body, check, options);
  }

  /**
   * Approves a user's pending public key although the service received a different key for the same user. If
   * `KEYROOT_HOLD_ON_CONFLICT` is set in the service, a key with such a conflict is published only after this call.
   * Repeating the call has no effect.
   * @param keyID the id of the key in base64: `key_id` of `publicKeyOf`
   */
  async approvePublicKey(userID: string, keyID: string, options: CallOptions = {}): Promise<void> {
    const { subject, body } = keyOf(userID, keyID);
    const check = about(subject, withValidKey(userKey, this.#keyType));
    await this.#operations.call("/v1/authdBizSrv/publicKeys/approve", body, check, options);
  }

  /**
   * Iterates over the descriptions of the partner's server tokens, including revoked tokens, in the order of creation.
   * The descriptions do not contain the tokens themselves. Each page of the list is requested only when the caller
   * needs it.
   */
  listServerTokens(options: ListTokensOptions = {}): AsyncGenerator<ServerToken, void, undefined> {
    const list = { fields: () => ({ after: tokenIDAfter(options) }), read: serverTokenPage };
    return iteratePages(this.#operations, "/v1/authdBizSrv/serverTokens/list", list, options);
  }

  /**
   * Revokes a server token and all access tokens that were made from it. The tokens become invalid immediately. A
   * client can also revoke its own token. If the response to this call is lost, the retry fails with
   * ACCESS_TOKEN_REVOKED.
   */
  async revokeServerToken(tokenID: string, options: CallOptions = {}): Promise<ServerToken> {
    const body = { token_id: checkText("The tokenID argument", tokenID) };
    const check = about({ token_id: tokenID }, serverToken);
    return this.#operations.call("/v1/authdBizSrv/serverTokens/revoke", body, check, options);
  }

  /**
   * Returns the events after a cursor, the oldest first. To lose no event, process the events of a page first, and only
   * then store the page's `cursor`. Pass this cursor as `after` to the next call. If a call fails with CURSOR_UNKNOWN,
   * start again without `after`, and ignore the events that you have already processed.
   * @example
   * const { events, cursor } = await partner.listEvents({ after: await loadCursor() });
   * for (const { id, type, data } of events) await process(id, type, data);
   * await storeCursor(cursor);
   */
  async listEvents(options: ListEventsOptions = {}): Promise<EventPage> {
    const { after, limit = 100, signal } = checkCallOptions(options, "after", "limit");
    checkInteger("The limit option", limit, 1, 1000);
    const body = { limit, ...(after !== undefined && { after: checkText("The after option", after) }) };
    return this.#operations.call("/v1/authdBizSrv/events/list", body, eventPage, { signal });
  }

  /**
   * Iterates over the partner's audit log, the newest entry first. The log shows who changed the data of the partner or
   * its users. Each page of the log is requested only when the caller needs it.
   */
  listAuditLog(options: ListAuditLogOptions = {}): AsyncGenerator<AuditEntry, void, undefined> {
    const list = { fields: () => auditFilterOf(options), names: AUDIT_FILTER, read: readAuditPage, mayBeEmpty: true };
    return iteratePages(this.#operations, "/v1/authdBizSrv/audit/list", list, options);
  }

  /**
   * Creates any number of users with one refresh token each. The list is read gradually and sent in groups, as in
   * `createUsers`. The outcomes are yielded as soon as they are available, in any order. The run stops when the caller
   * stops iterating.
   *
   * If the service rejects a user, the user's outcome has an `error` field. A failure that would affect all later users
   * ends the run. To continue the run, provision the whole list again with the same `runId` within 24 hours after the
   * start of the first run. Each user then receives the same token as before.
   * @throws ArgumentError ARGUMENT_INVALID, SECRET_TOO_SHORT
   * @throws TransportError
   * @throws ServiceError with the status 401, 429, 502, 503 or 504
   * @throws any error of the list
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
}

function tokenIDAfter({ after }: ListTokensOptions): string | undefined {
  return optional<string>(checkText, "The after option", after);
}
