/** The operator's client for the service. It runs only in Node, because a browser would reveal the admin token. */
export { ArgumentError, KeyrootError, ServiceError, TransportError } from "./errors.ts";
export { type ClientErrorCode as ErrorCode } from "./errorCodes.ts";
export type {
  AuditEntry,
  CreatedPartner,
  CreatedServerToken,
  PartnerSummary,
  PublishedBatch,
  RevokedServerToken,
  StaffInvitation,
} from "./shared/operations.ts";
export type { CallOptions } from "./shared/options.ts";
export {
  AdminClient,
  type AdminClientOptions,
  type CreateServerTokenOptions,
  type InviteOptions,
  type ListPartnersOptions,
  type ListWholeAuditLogOptions,
  type PublishRegisteredOptions,
} from "./operator/adminClient.ts";
