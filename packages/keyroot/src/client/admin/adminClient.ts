import { ArgumentError } from "../../errors.ts";
import { checkNames } from "../../input/names.ts";
import { checkInteger, checkObject, checkText, MAX_TIMEOUT_MS, optional } from "../../input/options.ts";
import { AUDIT_FILTER, type AuditEntry, auditFilterOf, type ListAuditLogOptions, readAuditPage } from "../auditLog.ts";
import { operationCaller, type OperationOptions } from "../callOperation.ts";
import {
  type CallOptions,
  checkBizId,
  checkCallOptions,
  checkConnection,
  type CheckedConnection,
  checkIdempotencyKey,
  CONNECTION,
  type ConnectionOptions,
} from "../options.ts";
import { refuseBrowsers } from "../refuseBrowsers.ts";
import { iteratePages, type PagedList, type PageOptions } from "../pages.ts";
import { checkSubject } from "../answers.ts";
import { readServerToken as readTokenMetadata, readTokenPage, type ServerToken } from "../partner/answers.ts";
import {
  type CreatedPartner,
  type CreatedServerToken,
  type PartnerSummary,
  type PublishedBatch,
  readBatches,
  readInvitation,
  readPartner,
  readPartnerPage,
  readPartnerSummary,
  readRevokedToken,
  readServerToken,
  type RevokedServerToken,
  type StaffInvitation,
} from "./answers.ts";

/** Which service to call, as its operator. */
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
  bizId?: string | undefined;
}

/** Options of `AdminClient.publish`. */
export interface PublishRegisteredOptions extends CallOptions {
  /** The longest time for publishing in ms. Default 600,000: the service answers after the transactions are confirmed. */
  timeoutMs?: number | undefined;
}

const PATH = "/v1/admin";
const ROLES: readonly unknown[] = ["administrator", "reader"];

/**
 * The client for the operator of the service: creates, lists and suspends partners; creates, lists and revokes their server tokens;
 * invites their staff; publishes registered keys.
 *
 * Every operation throws ServiceError with the service's code if the service refuses; TransportError UNREACHABLE, TIMEOUT,
 * REDIRECT_REFUSED, ANSWER_TOO_LARGE or SERVICE_ANSWER_INVALID if the service does not answer or its answer is malformed;
 * TransportError ABORTED; ArgumentError ARGUMENT_INVALID.
 *
 * @example
 * const admin = new AdminClient({ baseUrl: "https://keys.example", adminToken: process.env.KEYROOT_ADMIN_TOKEN });
 * const { biz_id } = await admin.createPartner("Acme");
 * const { token } = await admin.createServerToken(biz_id);
 * const batches = await admin.publish();
 */
export class AdminClient {
  readonly #connection: CheckedConnection;
  readonly #adminToken: string;

  /** @throws ArgumentError BROWSER_REFUSED, ARGUMENT_INVALID */
  constructor(options: AdminClientOptions) {
    refuseBrowsers("keyroot/admin holds the service's admin token: run it in Node, on the operator's machine.");
    checkObject("The client's options", options, "an object with baseUrl and adminToken");
    checkNames("The client's options", options, [...CONNECTION, "adminToken"]);
    this.#connection = checkConnection(options);
    this.#adminToken = checkAdminToken(options.adminToken);
  }

  /**
   * Creates a partner.
   * @param name a human-friendly name, at most 200 characters
   * @throws ArgumentError IDEMPOTENCY_KEY_INVALID
   */
  async createPartner(name: string, options: CreatePartnerOptions = {}): Promise<CreatedPartner> {
    const { signal, idempotencyKey } = checkCallOptions(options, "idempotencyKey");
    const body = { name: checkText("The argument name", name) };
    const call = { signal, idempotencyKey: checkIdempotencyKey(idempotencyKey) };
    return readPartner(await this.#call("partners/create", body, call));
  }

  /** Returns a partner with its numbers. */
  getPartner(bizId: string, options: CallOptions = {}): Promise<PartnerSummary> {
    return this.#callPartner("partners/get", bizId, {}, options);
  }

  /** Iterates over partners with their numbers, in the order of creation. */
  listPartners(options: ListPartnersOptions = {}): AsyncGenerator<PartnerSummary, void, undefined> {
    const operation = "partners/list";
    const fields = () => ({
      after: optional(checkBizId, "The option after", options.after),
      ...(options.search !== undefined && { search: checkText("The option search", options.search) }),
    });
    return this.#list({ operation, fields, names: ["search"], read: readPartnerPage }, options);
  }

  /** Refuses all tokens of a partner and its users until it is resumed. Its published keys remain verifiable. */
  suspendPartner(bizId: string, options: CallOptions = {}): Promise<PartnerSummary> {
    return this.#callPartner("partners/suspend", bizId, {}, options);
  }

  /** Ends a partner's suspension. */
  resumePartner(bizId: string, options: CallOptions = {}): Promise<PartnerSummary> {
    return this.#callPartner("partners/resume", bizId, {}, options);
  }

  /**
   * Limits the number of users that a partner may create.
   * @param userLimit null for any number
   */
  setUserLimit(bizId: string, userLimit: number | null, options: CallOptions = {}): Promise<PartnerSummary> {
    if (userLimit !== null) checkInteger("The argument userLimit", userLimit, 0, 2 ** 31 - 1);
    return this.#callPartner(
      "partners/setUserLimit",
      bizId,
      userLimit === null ? {} : { user_limit: userLimit },
      options,
    );
  }

  /** Iterates over the metadata of a partner's server tokens, in the order of creation. */
  listServerTokens(bizId: string, options: PageOptions = {}): AsyncGenerator<ServerToken, void, undefined> {
    const operation = "serverTokens/list";
    const fields = () => ({
      biz_id: checkBizId("The argument bizId", bizId),
      after: optional<unknown>(checkText, "The option after", options.after) as string | undefined,
    });
    const read = (answer: unknown, limit: number) => {
      const { tokens, next } = readTokenPage(answer, limit, readTokenMetadata);
      return { items: tokens, next };
    };
    return this.#list({ operation, fields, read }, options);
  }

  /** Iterates over the audit log, the newest entries first: who changed what. */
  listAuditLog(options: ListWholeAuditLogOptions = {}): AsyncGenerator<AuditEntry, void, undefined> {
    const fields = () => ({
      ...auditFilterOf(options),
      biz_id: optional<unknown>(checkBizId, "The option bizId", options.bizId),
    });
    const names = [...AUDIT_FILTER, "bizId"];
    return this.#list({ operation: "audit/list", fields, names, read: readAuditPage, mayBeEmpty: true }, options);
  }

  /** Revokes any server token, and its access tokens, immediately. Repeating the call has no effect. */
  async revokeServerToken(tokenId: string, options: CallOptions = {}): Promise<RevokedServerToken> {
    const body = { token_id: checkText("The argument tokenId", tokenId) };
    const token = readRevokedToken(await this.#call("serverTokens/revoke", body, checkCallOptions(options)));
    checkSubject("token", tokenId, token.token_id);
    return token;
  }

  /**
   * Creates a refresh token for a partner's server. The service shows it this once.
   * @throws ArgumentError IDEMPOTENCY_KEY_INVALID
   */
  async createServerToken(bizId: string, options: CreateServerTokenOptions = {}): Promise<CreatedServerToken> {
    const { name, signal, idempotencyKey } = checkCallOptions(options, "name", "idempotencyKey");
    const body = {
      biz_id: checkBizId("The argument bizId", bizId),
      ...(name !== undefined && { name: checkText("The option name", name) }),
    };
    const call = { signal, idempotencyKey: checkIdempotencyKey(idempotencyKey) };
    return readServerToken(await this.#call("serverTokens/create", body, call));
  }

  /**
   * Invites a person to the dashboard of a partner. The link works once, within 15 minutes. A person with this name is
   * invited again: the earlier link, all passkeys and all sessions of the person end.
   * @param name the name of the person, at most 200 characters
   */
  async invite(bizId: string, name: string, options: InviteOptions = {}): Promise<StaffInvitation> {
    return this.#invite("staff/invite", { biz_id: checkBizId("The argument bizId", bizId) }, name, options);
  }

  /**
   * Invites a person to the operator's console, which manages all partners. The link works once, within 15 minutes. A person
   * with this name is invited again, as by `invite`.
   * @param name the name of the person, at most 200 characters
   */
  async inviteOperator(name: string, options: InviteOptions = {}): Promise<StaffInvitation> {
    return this.#invite("operators/invite", {}, name, options);
  }

  /**
   * Publishes all registered keys that are not published. The request is sent once: if its answer is lost, the service
   * finishes publishing, and the batches are not reported again.
   */
  async publish(options: PublishRegisteredOptions = {}): Promise<PublishedBatch[]> {
    const { signal, timeoutMs = 600_000 } = checkCallOptions(options, "timeoutMs");
    checkInteger("The option timeoutMs", timeoutMs, 1, MAX_TIMEOUT_MS);
    return readBatches(await this.#call("publish", {}, { signal }, { retries: 0, timeoutMs }));
  }

  async #invite(operation: string, fields: object, name: string, options: InviteOptions): Promise<StaffInvitation> {
    const { role, signal } = checkCallOptions(options, "role");
    if (role !== undefined && !ROLES.includes(role))
      throw new ArgumentError("ARGUMENT_INVALID", "The option role must be administrator or reader.");
    const body = { ...fields, name: checkText("The argument name", name), ...(role !== undefined && { role }) };
    return readInvitation(await this.#call(operation, body, { signal }));
  }

  async #callPartner(operation: string, bizId: string, fields: object, options: CallOptions): Promise<PartnerSummary> {
    const body = { biz_id: checkBizId("The argument bizId", bizId), ...fields };
    const partner = readPartnerSummary("partner", await this.#call(operation, body, checkCallOptions(options)));
    checkSubject("partner", bizId, partner.biz_id);
    return partner;
  }

  #list<Item>(list: Omit<PagedList<Item>, "request">, options: PageOptions): AsyncGenerator<Item, void, undefined> {
    const request = (body: object, call: CallOptions) => this.#call(list.operation, body, call);
    return iteratePages({ ...list, request }, options);
  }

  #call(
    operation: string,
    body: object,
    options: Omit<OperationOptions, "accessToken">,
    limits: Partial<CheckedConnection> = {},
  ): Promise<unknown> {
    const call = operationCaller({ ...this.#connection, ...limits });
    return call(`${PATH}/${operation}`, body, { ...options, accessToken: this.#adminToken });
  }
}

/** Returns the token if it can be sent as a bearer token (RFC 6750, section 2.1). The error does not show it. */
function checkAdminToken(token: unknown): string {
  if (typeof token === "string" && /^[\w.~+/-]{1,500}=*$/.test(token)) return token;
  const message = "The option adminToken must be the service's admin token: letters, digits and - . _ ~ + / only.";
  throw new ArgumentError("ARGUMENT_INVALID", message);
}
