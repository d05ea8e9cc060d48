/** The entry with code that all clients share, such as the operator's client in `@keyroot/service`. */
export {
  checkSubject,
  count,
  discardedKey,
  list,
  merkleRoot,
  nullable,
  object,
  oneOf,
  secret,
  SERVER_TOKEN_FIELDS,
  serverToken,
  text,
  transactionHash,
  uuid,
} from "./answers.ts";
export { AUDIT_FILTER, auditFilterOf, type ListAuditLogOptions, readAuditPage } from "./auditLog.ts";
export { operationCaller } from "./callOperation.ts";
export { OperationClient } from "./operationClient.ts";
export type {
  AuditEntry,
  CreatedPartner,
  CreatedServerToken,
  PartnerSummary,
  PublishedBatch,
  RevokedServerToken,
  ServerToken,
  StaffInvitation,
} from "./operations.ts";
export {
  type CallOptions,
  checkBizID,
  checkCallOptions,
  checkClientOptions,
  checkConnection,
  type CheckedConnection,
  checkIdempotencyKey,
  CONNECTION,
  type ConnectionOptions,
  keyOf,
} from "./options.ts";
export { refuseBrowsers } from "./refuseBrowsers.ts";
export { iteratePages, page, type PageOptions } from "./pages.ts";
