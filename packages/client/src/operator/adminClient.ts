import { about, list, object } from "../shared/answers.ts";
import { AUDIT_FILTER, auditFilterOf, readAuditPage, type ListAuditLogOptions } from "../shared/auditLog.ts";
import { operationCaller } from "../shared/callOperation.ts";
import { OperationClient } from "../shared/operationClient.ts";
import {
  type AuditEntry,
  type CreatedPartner,
  type CreatedServerToken,
  type PartnerSummary,
  type PublishedBatch,
  type RevokedServerToken,
  type ServerToken,
  type StaffInvitation,
} from "../shared/operations.ts";
import {
  type CallOptions,
  checkBizID,
  checkCallOptions,
  checkConnection,
  checkCreateOptions,
  type CreateTokenOptions,
  type CheckedConnection,
  CONNECTION,
  type ConnectionOptions,
  keyOf,
} from "../shared/options.ts";
import { iteratePages, page, type PageOptions } from "../shared/pages.ts";
import { refuseBrowsers } from "../shared/refuseBrowsers.ts";
import { ArgumentError } from "../errors.ts";
import { checkInteger, checkNames, checkText, MAX_TIMEOUT_MS, optional } from "keyroot/internal/input";
import {
  createdPartner,
  createdServerToken,
  partnerSummary,
  publishedBatch,
  removedKey,
  revokedServerToken,
  serverToken,
  staffInvitation,
} from "../shared/answerChecks.ts";

const partnerPage = page("partners", partnerSummary);
const serverTokenPage = page("tokens", serverToken);
const publishedBatches = object<{ batches: PublishedBatch[] }>({
  // The limit is higher than the number of batches in any real response.
  batches: list(publishedBatch, 2 ** 16),
});
/** The response of an operation that returns no data. */
const nothing = object<Record<string, never>>({});

/** Options of an `AdminClient`: the service to call, and the service's admin token. */
export interface AdminClientOptions extends ConnectionOptions {
  /** The service's admin token (`KEYROOT_ADMIN_TOKEN`). */
  adminToken: string;
}

/** Options of `AdminClient.createPartner`. */
export interface CreatePartnerOptions extends CallOptions {
  /**
   * The idempotency key, 32 to 128 visible ASCII characters. A call with the same key and name returns the same
   * partner. Default: a random key for each call, which is also used for its retries.
   */
  idempotencyKey?: string | undefined;
}

/** Options of `AdminClient.createServerToken`. */
export interface CreateServerTokenOptions extends CreateTokenOptions {
  /** A human-friendly name for the token, at most 200 characters. Default: none. */
  name?: string | undefined;
}

/** Options of `AdminClient.invite`. */
export interface InviteOptions extends CallOptions {
  /** The person's role: `administrator` (default) or `reader`. */
  role?: "administrator" | "reader" | undefined;
}

/** Options of `AdminClient.listPartners`. */
export interface ListPartnersOptions extends PageOptions {
  /**
   * Lists only partners whose name contains this text, in upper or lower case, or whose `biz_id` begins with it.
   * Default: all partners.
   */
  search?: string | undefined;
}

/** Options of `AdminClient.listAuditLog`. */
export interface ListWholeAuditLogOptions extends ListAuditLogOptions {
  /**
   * Lists only changes to the partner with this `biz_id` and to the partner's users. Default: changes to all partners.
   */
  bizID?: string | undefined;
}

/** Options of `AdminClient.publishRegistered`. */
export interface PublishRegisteredOptions extends CallOptions {
  /** Maximum time to wait, in ms. Default: 600,000. The service responds after the transactions are confirmed. */
  timeoutMs?: number | undefined;
}

const ROLES: readonly unknown[] = ["administrator", "reader"];

/**
 * The operator's client for the service. It can:
 * - create, list and suspend partners
 * - create, list and revoke partners' server tokens
 * - invite and remove partners' staff
 * - discard pending keys and publish registered keys
 *
 * Every operation can throw these errors:
 * - ServiceError with the service's code, if the service rejects the request
 * - TransportError UNREACHABLE, TIMEOUT, REDIRECT_REFUSED, ANSWER_TOO_LARGE or SERVICE_ANSWER_INVALID, if the client
 *   receives no valid response
 * - TransportError ABORTED, if the signal aborts the call
 * - ArgumentError ARGUMENT_INVALID, if an argument or an option is invalid
 *
 * @example
 * const admin = new AdminClient({ serviceUrl: "https://keys.example", adminToken: process.env.KEYROOT_ADMIN_TOKEN });
 * const { biz_id } = await admin.createPartner("Acme");
 * const { token } = await admin.createServerToken(biz_id);
 * const batches = await admin.publishRegistered();
 */
export class AdminClient {
  readonly #operations: OperationClient;
  /** Returns a client without retries. Each of its calls ends within `timeoutMs`. */
  readonly #once: (timeoutMs: number) => OperationClient;

  /** @throws ArgumentError BROWSER_REFUSED, ARGUMENT_INVALID */
  constructor(options: AdminClientOptions) {
    refuseBrowsers("AdminClient uses the service's admin token. Run it in Node on the operator's machine.");
    const names = [...CONNECTION, "adminToken"];
    checkNames("The client's options", options, names, "an object with serviceUrl and adminToken");
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
    const { signal, idempotencyKey } = checkCreateOptions(options);
    const body = { name: checkText("The name argument", name) };
    return this.#operations.call("/v1/admin/partners/create", body, createdPartner, { signal }, idempotencyKey);
  }

  /** Returns a partner with counts, such as the number of its users. */
  getPartner(bizID: string, options: CallOptions = {}): Promise<PartnerSummary> {
    return this.#callPartner("/v1/admin/partners/get", bizID, {}, options);
  }

  /** Iterates over partners with their counts, in the order of creation. */
  listPartners(options: ListPartnersOptions = {}): AsyncGenerator<PartnerSummary, void, undefined> {
    const fields = () => ({
      after: optional(checkBizID, "The after option", options.after),
      ...(options.search !== undefined && { search: checkText("The search option", options.search) }),
    });
    return iteratePages(
      this.#operations,
      "/v1/admin/partners/list",
      { fields, names: ["search"], read: partnerPage },
      options,
    );
  }

  /**
   * Suspends a partner. The service then rejects the tokens of the partner and of its users. Keys that are already
   * published can still be verified.
   */
  suspendPartner(bizID: string, options: CallOptions = {}): Promise<PartnerSummary> {
    return this.#callPartner("/v1/admin/partners/suspend", bizID, {}, options);
  }

  /** Ends a partner's suspension. */
  resumePartner(bizID: string, options: CallOptions = {}): Promise<PartnerSummary> {
    return this.#callPartner("/v1/admin/partners/resume", bizID, {}, options);
  }

  /**
   * Limits the number of users that a partner may create.
   * @param userLimit the maximum number of users, or null for no limit
   */
  setUserLimit(bizID: string, userLimit: number | null, options: CallOptions = {}): Promise<PartnerSummary> {
    if (userLimit !== null) checkInteger("The userLimit argument", userLimit, 0, 2 ** 31 - 1);
    const fields = userLimit === null ? {} : { user_limit: userLimit };
    return this.#callPartner("/v1/admin/partners/setUserLimit", bizID, fields, options);
  }

  /** Iterates over the metadata of a partner's server tokens, in the order of creation. */
  listServerTokens(bizID: string, options: PageOptions = {}): AsyncGenerator<ServerToken, void, undefined> {
    const fields = () => ({
      biz_id: checkBizID("The bizID argument", bizID),
      after: optional<unknown>(checkText, "The after option", options.after) as string | undefined,
    });
    return iteratePages(this.#operations, "/v1/admin/serverTokens/list", { fields, read: serverTokenPage }, options);
  }

  /** Iterates over the audit log, the newest entries first. */
  listAuditLog(options: ListWholeAuditLogOptions = {}): AsyncGenerator<AuditEntry, void, undefined> {
    const fields = () => ({
      ...auditFilterOf(options),
      biz_id: optional<unknown>(checkBizID, "The bizID option", options.bizID),
    });
    const list = { fields, names: [...AUDIT_FILTER, "bizID"], read: readAuditPage, mayBeEmpty: true };
    return iteratePages(this.#operations, "/v1/admin/audit/list", list, options);
  }

  /**
   * Revokes a partner's server token and all access tokens that were made from it. The tokens become invalid
   * immediately. Repeating the call has no effect.
   */
  async revokeServerToken(tokenID: string, options: CallOptions = {}): Promise<RevokedServerToken> {
    const body = { token_id: checkText("The tokenID argument", tokenID) };
    const check = about(body, revokedServerToken);
    return this.#operations.call("/v1/admin/serverTokens/revoke", body, check, options);
  }

  /**
   * Creates a server token of a partner. The service returns the token only once.
   * @throws ArgumentError IDEMPOTENCY_KEY_INVALID
   */
  async createServerToken(bizID: string, options: CreateServerTokenOptions = {}): Promise<CreatedServerToken> {
    const { name, signal, idempotencyKey } = checkCreateOptions(options, "name");
    const body = {
      biz_id: checkBizID("The bizID argument", bizID),
      ...(name !== undefined && { name: checkText("The name option", name) }),
    };
    return this.#operations.call("/v1/admin/serverTokens/create", body, createdServerToken, { signal }, idempotencyKey);
  }

  /**
   * Invites a person to a partner's dashboard. The link in the result works only once, within 15 minutes. If you invite
   * the same name again, a new link replaces the earlier one, and the person's passkeys and sessions are deleted.
   * @param name the name of the person, at most 200 characters
   */
  async invite(bizID: string, name: string, options: InviteOptions = {}): Promise<StaffInvitation> {
    const body = { ...checkInvitation(name, options), biz_id: checkBizID("The bizID argument", bizID) };
    return this.#operations.call("/v1/admin/staff/invite", body, staffInvitation, { signal: options.signal });
  }

  /**
   * Removes a person from a partner's dashboard, and deletes the person's passkeys and sessions. If there is no such
   * person, for example because the call is repeated, the service rejects the call with PERSON_UNKNOWN.
   * @param name the name of the person, at most 200 characters
   */
  async removeStaff(bizID: string, name: string, options: CallOptions = {}): Promise<void> {
    const body = { biz_id: checkBizID("The bizID argument", bizID), name: checkText("The name argument", name) };
    await this.#operations.call("/v1/admin/staff/remove", body, nothing, options);
  }

  /**
   * Invites a person to the operator's console, which manages all partners. The link in the result works only once,
   * within 15 minutes. If you invite the same name again, a new link replaces the earlier one, and the person's
   * passkeys and sessions are deleted.
   * @param name the name of the person, at most 200 characters
   */
  async inviteOperator(name: string, options: InviteOptions = {}): Promise<StaffInvitation> {
    const body = checkInvitation(name, options);
    return this.#operations.call("/v1/admin/operators/invite", body, staffInvitation, { signal: options.signal });
  }

  /**
   * Discards a user's `pending` public key, so that the user can register another one. This also works if the partner
   * is suspended. If the key is already being published, the service rejects the call with PUBLIC_KEY_SUBMITTED.
   * Repeating the call has no effect.
   * @param userID 32 characters of zBase32, or 40 hex digits
   * @param keyID the id of the key in base64, as listed in the audit log
   * @throws ArgumentError USER_ID_INVALID
   */
  async discardPublicKey(bizID: string, userID: string, keyID: string, options: CallOptions = {}): Promise<void> {
    const { subject, body } = keyOf(userID, keyID);
    const ofPartner = { biz_id: checkBizID("The bizID argument", bizID), ...body };
    await this.#operations.call("/v1/admin/publicKeys/discard", ofPartner, about(subject, removedKey), options);
  }

  /**
   * Publishes all registered keys that are not published yet. The request is never repeated. If its response is lost,
   * the service still publishes the keys, but no later call returns the batches with these keys.
   */
  async publishRegistered(options: PublishRegisteredOptions = {}): Promise<PublishedBatch[]> {
    const { signal, timeoutMs = 600_000 } = checkCallOptions(options, "timeoutMs");
    checkInteger("The timeoutMs option", timeoutMs, 1, MAX_TIMEOUT_MS);
    const operations = this.#once(timeoutMs);
    return (await operations.call("/v1/admin/publishRegistered", {}, publishedBatches, { signal })).batches;
  }

  async #callPartner(
    path: `/v1/admin/partners/${"get" | "suspend" | "resume" | "setUserLimit"}`,
    bizID: string,
    fields: object,
    options: CallOptions,
  ): Promise<PartnerSummary> {
    const partner = { biz_id: checkBizID("The bizID argument", bizID) };
    return this.#operations.call(path, { ...partner, ...fields }, about(partner, partnerSummary), options);
  }
}

/**
 * Checks the arguments of an invitation, and returns the fields of the request.
 * @throws ArgumentError ARGUMENT_INVALID
 */
function checkInvitation(name: string, options: InviteOptions) {
  const { role } = checkCallOptions(options, "role");
  if (role !== undefined && !ROLES.includes(role))
    throw new ArgumentError("ARGUMENT_INVALID", "The role option must be administrator or reader.");
  return { name: checkText("The name argument", name), ...(role !== undefined && { role }) };
}

/** Checks and returns a bearer token (RFC 6750, section 2.1). The error message does not contain the token. */
function checkAdminToken(token: unknown): string {
  if (typeof token === "string" && /^[\w.~+/-]{1,500}=*$/.test(token)) return token;
  const message =
    "The adminToken option must be the service's admin token. It contains only letters, digits and - . _ ~ + /.";
  throw new ArgumentError("ARGUMENT_INVALID", message);
}
