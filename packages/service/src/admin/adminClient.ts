import {
  AUDIT_FILTER,
  type AuditEntry,
  auditFilterOf,
  type CallOptions,
  checkBizID,
  checkCallOptions,
  checkConnection,
  type CheckedConnection,
  checkIdempotencyKey,
  checkSubject,
  CONNECTION,
  type ConnectionOptions,
  type CreatedPartner,
  type CreatedServerToken,
  discardedKey,
  keyOf,
  OperationClient,
  operationCaller,
  type PageOptions,
  type PartnerSummary,
  type PublishedBatch,
  readAuditPage,
  refuseBrowsers,
  type RevokedServerToken,
  iteratePages,
  type ListAuditLogOptions,
  type ServerToken,
  type StaffInvitation,
} from "keyroot/client";
import { ArgumentError } from "keyroot/errors";
import { checkInteger, checkNames, checkObject, checkText, MAX_TIMEOUT_MS, optional } from "keyroot/input";
import {
  createdPartner,
  createdServerToken,
  invitation,
  nothing,
  partnerPage,
  partnerSummary,
  publishedBatches,
  revokedServerToken,
  serverTokenPage,
} from "./answers.ts";

/** The service to call, and its admin token. */
export interface AdminClientOptions extends ConnectionOptions {
  /** The service's admin token (`KEYROOT_ADMIN_TOKEN`). */
  adminToken: string;
}

/** Options of `AdminClient.createPartner`. */
export interface CreatePartnerOptions extends CallOptions {
  /**
   * 32 to 128 visible ASCII characters. The same key with the same name returns the same partner. Default: a random key for
   * each call, which all retries of the call share.
   */
  idempotencyKey?: string | undefined;
}

/** Options of `AdminClient.createServerToken`. */
export interface CreateServerTokenOptions extends CallOptions {
  /** A human-friendly name, at most 200 characters. Default none. */
  name?: string | undefined;
  /**
   * 32 to 128 visible ASCII characters. For 24 hours, the same key with the same request returns the same token. Default: a
   * random key for each call, which all retries of the call share.
   */
  idempotencyKey?: string | undefined;
}

/** Options of `AdminClient.invite`. */
export interface InviteOptions extends CallOptions {
  /** `administrator` or `reader`. Default `administrator`. */
  role?: "administrator" | "reader" | undefined;
}

/** Options of `AdminClient.listPartners`. */
export interface ListPartnersOptions extends PageOptions {
  /** A part of the name, in any case, or the beginning of the `biz_id`. Default: all partners. */
  search?: string | undefined;
}

/** Options of `AdminClient.listAuditLog`. */
export interface ListWholeAuditLogOptions extends ListAuditLogOptions {
  /** Only changes of this partner and its users. */
  bizID?: string | undefined;
}

/** Options of `AdminClient.publishRegistered`. */
export interface PublishRegisteredOptions extends CallOptions {
  /** The longest time for publishing in ms. Default 600,000: the service answers after the transactions are confirmed. */
  timeoutMs?: number | undefined;
}

const ROLES: readonly unknown[] = ["administrator", "reader"];

/**
 * The client for the operator of the service: creates, lists and suspends partners; creates, lists and revokes their server tokens;
 * invites and removes their staff; discards pending keys; publishes registered keys.
 *
 * Every operation throws ServiceError with the service's code if the service refuses; TransportError UNREACHABLE, TIMEOUT,
 * REDIRECT_REFUSED, ANSWER_TOO_LARGE or SERVICE_ANSWER_INVALID if the service does not answer or its answer is malformed;
 * TransportError ABORTED; ArgumentError ARGUMENT_INVALID.
 *
 * @example
 * const admin = new AdminClient({ serviceUrl: "https://keys.example", adminToken: process.env.KEYROOT_ADMIN_TOKEN });
 * const { biz_id } = await admin.createPartner("Acme");
 * const { token } = await admin.createServerToken(biz_id);
 * const batches = await admin.publishRegistered();
 */
export class AdminClient {
  readonly #operations: OperationClient;
  /** The operations without retries, in at most `timeoutMs`. */
  readonly #once: (timeoutMs: number) => OperationClient;

  /** @throws ArgumentError BROWSER_REFUSED, ARGUMENT_INVALID */
  constructor(options: AdminClientOptions) {
    refuseBrowsers("keyroot/admin holds the service's admin token: run it in Node, on the operator's machine.");
    checkObject("The client's options", options, "an object with serviceUrl and adminToken");
    checkNames("The client's options", options, [...CONNECTION, "adminToken"]);
    const connection = checkConnection(options);
    const accessToken = checkAdminToken(options.adminToken);
    const operationsOver = (checked: CheckedConnection) => {
      const call = operationCaller(checked);
      return new OperationClient((path, body, options) => call(path, body, { ...options, accessToken }));
    };
    this.#operations = operationsOver(connection);
    this.#once = (timeoutMs) => operationsOver({ ...connection, retries: 0, timeoutMs });
  }

  /**
   * Creates a partner.
   * @param name a human-friendly name, at most 200 characters
   * @throws ArgumentError IDEMPOTENCY_KEY_INVALID
   */
  async createPartner(name: string, options: CreatePartnerOptions = {}): Promise<CreatedPartner> {
    const { signal, idempotencyKey } = checkCallOptions(options, "idempotencyKey");
    const body = { name: checkText("The argument name", name) };
    const key = checkIdempotencyKey(idempotencyKey);
    return this.#operations.call("/v1/admin/partners/create", body, createdPartner, { signal }, key);
  }

  /** Returns a partner with its numbers. */
  getPartner(bizID: string, options: CallOptions = {}): Promise<PartnerSummary> {
    return this.#callPartner("/v1/admin/partners/get", bizID, {}, options);
  }

  /** Iterates over partners with their numbers, in the order of creation. */
  listPartners(options: ListPartnersOptions = {}): AsyncGenerator<PartnerSummary, void, undefined> {
    const fields = () => ({
      after: optional(checkBizID, "The option after", options.after),
      ...(options.search !== undefined && { search: checkText("The option search", options.search) }),
    });
    return iteratePages(
      this.#operations,
      "/v1/admin/partners/list",
      { fields, names: ["search"], read: partnerPage },
      options,
    );
  }

  /** Refuses all tokens of a partner and its users until it is resumed. Its published keys remain verifiable. */
  suspendPartner(bizID: string, options: CallOptions = {}): Promise<PartnerSummary> {
    return this.#callPartner("/v1/admin/partners/suspend", bizID, {}, options);
  }

  /** Ends a partner's suspension. */
  resumePartner(bizID: string, options: CallOptions = {}): Promise<PartnerSummary> {
    return this.#callPartner("/v1/admin/partners/resume", bizID, {}, options);
  }

  /**
   * Limits the number of users that a partner may create.
   * @param userLimit null for any number
   */
  setUserLimit(bizID: string, userLimit: number | null, options: CallOptions = {}): Promise<PartnerSummary> {
    if (userLimit !== null) checkInteger("The argument userLimit", userLimit, 0, 2 ** 31 - 1);
    const fields = userLimit === null ? {} : { user_limit: userLimit };
    return this.#callPartner("/v1/admin/partners/setUserLimit", bizID, fields, options);
  }

  /** Iterates over the metadata of a partner's server tokens, in the order of creation. */
  listServerTokens(bizID: string, options: PageOptions = {}): AsyncGenerator<ServerToken, void, undefined> {
    const fields = () => ({
      biz_id: checkBizID("The argument bizID", bizID),
      after: optional<unknown>(checkText, "The option after", options.after) as string | undefined,
    });
    return iteratePages(this.#operations, "/v1/admin/serverTokens/list", { fields, read: serverTokenPage }, options);
  }

  /** Iterates over the audit log, the newest entries first. */
  listAuditLog(options: ListWholeAuditLogOptions = {}): AsyncGenerator<AuditEntry, void, undefined> {
    const fields = () => ({
      ...auditFilterOf(options),
      biz_id: optional<unknown>(checkBizID, "The option bizID", options.bizID),
    });
    const list = { fields, names: [...AUDIT_FILTER, "bizID"], read: readAuditPage, mayBeEmpty: true };
    return iteratePages(this.#operations, "/v1/admin/audit/list", list, options);
  }

  /** Revokes any server token, and its access tokens, immediately. Repeating the call has no effect. */
  async revokeServerToken(tokenID: string, options: CallOptions = {}): Promise<RevokedServerToken> {
    const body = { token_id: checkText("The argument tokenID", tokenID) };
    const path = "/v1/admin/serverTokens/revoke";
    const token = await this.#operations.call(path, body, revokedServerToken, options);
    checkSubject("token", tokenID, token.token_id);
    return token;
  }

  /**
   * Creates a refresh token for a partner's server. The service shows it this once.
   * @throws ArgumentError IDEMPOTENCY_KEY_INVALID
   */
  async createServerToken(bizID: string, options: CreateServerTokenOptions = {}): Promise<CreatedServerToken> {
    const { name, signal, idempotencyKey } = checkCallOptions(options, "name", "idempotencyKey");
    const body = {
      biz_id: checkBizID("The argument bizID", bizID),
      ...(name !== undefined && { name: checkText("The option name", name) }),
    };
    const key = checkIdempotencyKey(idempotencyKey);
    return this.#operations.call("/v1/admin/serverTokens/create", body, createdServerToken, { signal }, key);
  }

  /**
   * Invites a person to the dashboard of a partner. The link works once, within 15 minutes. For a known name, the
   * invitation replaces the person's earlier link, and removes all passkeys and sessions.
   * @param name the name of the person, at most 200 characters
   */
  async invite(bizID: string, name: string, options: InviteOptions = {}): Promise<StaffInvitation> {
    const body = { ...checkInvitation(name, options), biz_id: checkBizID("The argument bizID", bizID) };
    return this.#operations.call("/v1/admin/staff/invite", body, invitation, { signal: options.signal });
  }

  /**
   * Removes a person from the dashboard of a partner, with all passkeys and sessions. The service refuses with
   * PERSON_UNKNOWN if there is no such person. This is also the case if the answer to an earlier call was lost.
   * @param name the name of the person, at most 200 characters
   */
  async removeStaff(bizID: string, name: string, options: CallOptions = {}): Promise<void> {
    const body = { biz_id: checkBizID("The argument bizID", bizID), name: checkText("The argument name", name) };
    await this.#operations.call("/v1/admin/staff/remove", body, nothing, options);
  }

  /**
   * Invites a person to the operator's console, which manages all partners. The link works once, within 15 minutes. For a
   * known name, it has the same effects as `invite`.
   * @param name the name of the person, at most 200 characters
   */
  async inviteOperator(name: string, options: InviteOptions = {}): Promise<StaffInvitation> {
    const body = checkInvitation(name, options);
    return this.#operations.call("/v1/admin/operators/invite", body, invitation, { signal: options.signal });
  }

  /**
   * Discards the public key of a partner's user while it is `pending`, also while the partner is suspended. The user can then
   * register another one. Repeating the call has no effect. The service refuses with PUBLIC_KEY_SUBMITTED once the key is
   * being published.
   * @param userID 32 characters of zBase32, or 40 hex digits
   * @param keyID the id of the key, which the audit log has
   * @throws ArgumentError USER_ID_INVALID
   */
  async discardPublicKey(bizID: string, userID: string, keyID: string, options: CallOptions = {}): Promise<void> {
    const { id, body } = keyOf(userID, keyID);
    const ofPartner = { biz_id: checkBizID("The argument bizID", bizID), ...body };
    const key = await this.#operations.call("/v1/admin/publicKeys/discard", ofPartner, discardedKey, options);
    checkSubject("user", id, key.user_id);
    checkSubject("public key", keyID, key.key_id);
  }

  /**
   * Publishes all registered keys that are not published yet. The request is sent once: if its answer is lost, the service
   * finishes publishing, and the batches are not reported again.
   */
  async publishRegistered(options: PublishRegisteredOptions = {}): Promise<PublishedBatch[]> {
    const { signal, timeoutMs = 600_000 } = checkCallOptions(options, "timeoutMs");
    checkInteger("The option timeoutMs", timeoutMs, 1, MAX_TIMEOUT_MS);
    const operations = this.#once(timeoutMs);
    return (await operations.call("/v1/admin/publishRegistered", {}, publishedBatches, { signal })).batches;
  }

  async #callPartner(
    path: `/v1/admin/partners/${"get" | "suspend" | "resume" | "setUserLimit"}`,
    bizID: string,
    fields: object,
    options: CallOptions,
  ): Promise<PartnerSummary> {
    const body = { biz_id: checkBizID("The argument bizID", bizID), ...fields };
    const partner = await this.#operations.call(path, body, partnerSummary, options);
    checkSubject("partner", bizID, partner.biz_id);
    return partner;
  }
}

/** The fields of a request that invites a person. @throws ArgumentError ARGUMENT_INVALID */
function checkInvitation(name: string, options: InviteOptions) {
  const { role } = checkCallOptions(options, "role");
  if (role !== undefined && !ROLES.includes(role))
    throw new ArgumentError("ARGUMENT_INVALID", "The option role must be administrator or reader.");
  return { name: checkText("The argument name", name), ...(role !== undefined && { role }) };
}

/** Returns the token if it can be sent as a bearer token (RFC 6750, section 2.1). The error does not show it. */
function checkAdminToken(token: unknown): string {
  if (typeof token === "string" && /^[\w.~+/-]{1,500}=*$/.test(token)) return token;
  const message = "The option adminToken must be the service's admin token: letters, digits and - . _ ~ + / only.";
  throw new ArgumentError("ARGUMENT_INVALID", message);
}
