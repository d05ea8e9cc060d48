/**
 * The entry `@keyroot/client/partner`, with the client for a partner's back end. It runs only on servers, because the
 * client's token never expires and must not reach a browser.
 */
export { ArgumentError, KeyrootError, ServiceError, TransportError } from "./errors.ts";
export { type ClientErrorCode as ErrorCode } from "./errorCodes.ts";
export type { ListAuditLogOptions } from "./shared/auditLog.ts";
export type {
  AccountStatement,
  AuditEntry,
  ConflictingKey,
  CreatedUser,
  DeactivatedUser,
  ErasedUser,
  EventPage,
  KeyChange,
  KeyEvent,
  KeyOfUser,
  KeyProgress,
  NewWebhookEndpoint,
  PartnerEvent,
  RefreshToken,
  RemovedKey,
  RotatedSecret,
  ServerToken,
  ShadowUser,
  UserAccount,
  UserFields,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookTest,
} from "./shared/operations.ts";
export type { CallOptions, CreateTokenOptions } from "./shared/options.ts";
export type { Region } from "keyroot/internal/formats";
export type { PartnerAccounts } from "./partner/accounts.ts";
export type { CreateUsersResult, UserToCreate } from "./partner/answers.ts";
export { PartnerClient } from "./partner/partnerClient.ts";
export type { ProvisionOptions, ProvisionOutcome, UserToProvision } from "./partner/provision.ts";
export type {
  ListDeliveriesOptions,
  NewEndpointOptions,
  PartnerWebhooks,
  UpdateEndpointOptions,
} from "./partner/webhooks.ts";
export type { ListEventsOptions, ListOptions, ListTokensOptions, PartnerClientOptions } from "./partner/options.ts";
