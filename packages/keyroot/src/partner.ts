/**
 * The entry `keyroot/partner` with the client for a partner's back end. The client runs only in Node, because the
 * client's token never expires.
 */
export { ArgumentError, type ErrorCode, KeyrootError, ServiceError, TransportError } from "./errors.ts";
export type { ListAuditLogOptions } from "./client/auditLog.ts";
export type {
  AuditEntry,
  ConflictingKey,
  CreatedUser,
  DeactivatedUser,
  ErasedUser,
  EventPage,
  KeyEvent,
  KeyOfUser,
  KeyProgress,
  NewWebhookEndpoint,
  PartnerEvent,
  PartnerUser,
  RefreshToken,
  RotatedSecret,
  ServerToken,
  ShadowUser,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookTest,
} from "./client/operations.ts";
export type { CallOptions } from "./client/options.ts";
export type { Region } from "./identity/region.ts";
export type { CreateUsersResult, UserToCreate } from "./client/partner/answers.ts";
export {
  type CreateTokenOptions,
  type ListEventsOptions,
  type ListOptions,
  type ListTokensOptions,
  PartnerClient,
  type PartnerClientOptions,
} from "./client/partner/partnerClient.ts";
export type { ProvisionOptions, ProvisionOutcome, UserToProvision } from "./client/partner/provision.ts";
export type {
  ListDeliveriesOptions,
  NewEndpointOptions,
  NewSecretOptions,
  PartnerWebhooks,
  UpdateEndpointOptions,
} from "./client/partner/webhooks.ts";
