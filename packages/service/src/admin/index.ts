/** `@keyroot/service/admin`: the operator's client for the service. Only for Node, because it holds the admin token. */
export { ArgumentError, type ErrorCode, KeyrootError, ServiceError, TransportError } from "keyroot/errors";
export type {
  AuditEntry,
  CallOptions,
  CreatedPartner,
  CreatedServerToken,
  PartnerSummary,
  PublishedBatch,
  RevokedServerToken,
  StaffInvitation,
} from "keyroot/client";
export {
  AdminClient,
  type AdminClientOptions,
  type CreateServerTokenOptions,
  type InviteOptions,
  type ListPartnersOptions,
  type ListWholeAuditLogOptions,
  type PublishRegisteredOptions,
} from "./adminClient.ts";
