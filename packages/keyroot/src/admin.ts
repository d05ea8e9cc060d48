/** `keyroot/admin`: the client for the operator of the service. Node only, because it holds the admin token. */
export { ArgumentError, type ErrorCode, KeyrootError, ServiceError, TransportError } from "./errors.ts";
export type { CallOptions } from "./client/options.ts";
export type { AuditEntry } from "./client/auditLog.ts";
export {
  AdminClient,
  type AdminClientOptions,
  type CreateServerTokenOptions,
  type InviteOptions,
  type ListPartnersOptions,
  type ListWholeAuditLogOptions,
  type PublishRegisteredOptions,
} from "./client/admin/adminClient.ts";
export type {
  CreatedPartner,
  CreatedServerToken,
  PartnerSummary,
  PublishedBatch,
  RevokedServerToken,
  StaffInvitation,
} from "./client/admin/answers.ts";
