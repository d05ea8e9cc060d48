/**
 * The operator's client for the service. The client runs only in Node, because a browser would reveal the admin token.
 */
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
