// Written by scripts/generate/clientTypes.ts from the service's table of operations. Do not edit.
import {
  boolean,
  count,
  dictionary,
  list,
  nullable,
  object,
  oneOf,
  optional,
  scalar,
  text,
  userID,
  uuid,
  serverTokenText,
  webhookSecret,
  invitationUrl,
} from "./answers.ts";
import type {
  DeactivatedUser,
  EventPage,
  RemovedKey,
  ErasedUser,
  RotatedSecret,
  CreatedPartner,
  ConflictingKey,
  KeyEvent,
  PartnerEvent,
  PublishedBatch,
  CreatedServerToken,
  RefreshToken,
  ServerToken,
  WebhookEndpoint,
  WebhookTest,
  StaffInvitation,
  NewWebhookEndpoint,
  RevokedServerToken,
  CreatedUser,
  ShadowUser,
  UserAccount,
  AuditEntry,
  Challenge,
  WebhookDelivery,
  PartnerSummary,
  UserKey,
  AccountStatement,
  KeyChange,
  KeyOfUser,
  RegisteredKey,
  UserRecord,
} from "./operations.ts";

const USER_FIELDS = {
  user_id: userID,
  bucket: text(),
  region: oneOf("us-west-2", "eu-west-1"),
  stage: text(),
  salt: text(/^[0-9a-f]{32}$/),
  created: count,
};

const KEY_PROGRESS_FIELDS = {
  hold_ends_at: optional(nullable(count)),
  root: optional(text(/^[0-9a-f]{64}$/)),
  transaction: optional(text(/^0x[0-9a-f]{64}$/)),
  number: optional(count),
  account_file: optional(text()),
};

const DEACTIVATED_USER_FIELDS = { user_id: userID, deactivated: count };
/** Checks `DeactivatedUser`. */
export const deactivatedUser = object<DeactivatedUser>(DEACTIVATED_USER_FIELDS);

const PARTNER_EVENT_FIELDS = { type: text(), at: count, id: uuid, data: dictionary(scalar) };
/** Checks `PartnerEvent`. */
export const partnerEvent = object<PartnerEvent>(PARTNER_EVENT_FIELDS);

const EVENT_PAGE_FIELDS = { events: list(partnerEvent), cursor: text(/^[A-Za-z0-9_-]{1,1000}$/) };
/** Checks `EventPage`. */
export const eventPage = object<EventPage>(EVENT_PAGE_FIELDS);

const REMOVED_KEY_FIELDS = { user_id: userID, key_id: text(/^[A-Za-z0-9+/=]*$/), state: oneOf("unregistered") };
/** Checks `RemovedKey`. */
export const removedKey = object<RemovedKey>(REMOVED_KEY_FIELDS);

const ERASED_USER_FIELDS = { user_id: userID, erased: count, key: oneOf("deleted", "remains") };
/** Checks `ErasedUser`. */
export const erasedUser = object<ErasedUser>(ERASED_USER_FIELDS);

const ROTATED_SECRET_FIELDS = { endpoint_id: uuid, secret: webhookSecret, previous_until: nullable(count) };
/** Checks `RotatedSecret`. */
export const rotatedSecret = object<RotatedSecret>(ROTATED_SECRET_FIELDS);

const CREATED_PARTNER_FIELDS = { biz_id: text(/^[\x21-\x7e]*$/), name: text(), created: count };
/** Checks `CreatedPartner`. */
export const createdPartner = object<CreatedPartner>(CREATED_PARTNER_FIELDS);

const CONFLICTING_KEY_FIELDS = { public_key: text(), key_id: text(/^[A-Za-z0-9+/=]*$/), at: count, withdrawn: boolean };
/** Checks `ConflictingKey`. */
export const conflictingKey = object<ConflictingKey>(CONFLICTING_KEY_FIELDS);

const KEY_EVENT_FIELDS = {
  type: oneOf("registered", "conflict", "withdrawn", "discarded", "approved"),
  key_id: text(/^[A-Za-z0-9+/=]*$/),
  at: count,
  after_withdrawal: boolean,
};
/** Checks `KeyEvent`. */
export const keyEvent = object<KeyEvent>(KEY_EVENT_FIELDS);

const PUBLISHED_BATCH_FIELDS = {
  root: text(/^[0-9a-f]{64}$/),
  users: count,
  transaction: text(/^0x[0-9a-f]{64}$/),
  block: count,
};
/** Checks `PublishedBatch`. */
export const publishedBatch = object<PublishedBatch>(PUBLISHED_BATCH_FIELDS);

const CREATED_SERVER_TOKEN_FIELDS = { token_id: uuid, token: serverTokenText, name: nullable(text()), created: count };
/** Checks `CreatedServerToken`. */
export const createdServerToken = object<CreatedServerToken>(CREATED_SERVER_TOKEN_FIELDS);

const REFRESH_TOKEN_FIELDS = {
  token_id: uuid,
  context: text(),
  created: count,
  revoked: nullable(count),
  last_used: nullable(count),
};
/** Checks `RefreshToken`. */
export const refreshToken = object<RefreshToken>(REFRESH_TOKEN_FIELDS);

const SERVER_TOKEN_FIELDS = {
  token_id: uuid,
  name: nullable(text()),
  created: count,
  revoked: nullable(count),
  last_used: nullable(count),
};
/** Checks `ServerToken`. */
export const serverToken = object<ServerToken>(SERVER_TOKEN_FIELDS);

const WEBHOOK_ENDPOINT_FIELDS = {
  endpoint_id: uuid,
  url: text(),
  types: list(text()),
  created: count,
  paused: nullable(count),
};
/** Checks `WebhookEndpoint`. */
export const webhookEndpoint = object<WebhookEndpoint>(WEBHOOK_ENDPOINT_FIELDS);

const WEBHOOK_TEST_FIELDS = {
  event_id: uuid,
  delivered: boolean,
  status: nullable(count),
  error: nullable(text()),
  duration: count,
};
/** Checks `WebhookTest`. */
export const webhookTest = object<WebhookTest>(WEBHOOK_TEST_FIELDS);

const STAFF_INVITATION_FIELDS = {
  person_id: uuid,
  name: text(),
  role: oneOf("administrator", "reader"),
  url: invitationUrl,
  expires: count,
};
/** Checks `StaffInvitation`. */
export const staffInvitation = object<StaffInvitation>(STAFF_INVITATION_FIELDS);

const NEW_WEBHOOK_ENDPOINT_FIELDS = { ...WEBHOOK_ENDPOINT_FIELDS, secret: webhookSecret };
/** Checks `NewWebhookEndpoint`. */
export const newWebhookEndpoint = object<NewWebhookEndpoint>(NEW_WEBHOOK_ENDPOINT_FIELDS);

const REVOKED_SERVER_TOKEN_FIELDS = { ...SERVER_TOKEN_FIELDS, biz_id: text(/^[\x21-\x7e]*$/) };
/** Checks `RevokedServerToken`. */
export const revokedServerToken = object<RevokedServerToken>(REVOKED_SERVER_TOKEN_FIELDS);

const CREATED_USER_FIELDS = { ...USER_FIELDS, status: oneOf(201) };
/** Checks `CreatedUser`. */
export const createdUser = object<CreatedUser>(CREATED_USER_FIELDS);

const SHADOW_USER_FIELDS = { ...USER_FIELDS, deactivated: nullable(count) };
/** Checks `ShadowUser`. */
export const shadowUser = object<ShadowUser>(SHADOW_USER_FIELDS);

const ACCOUNT_STATEMENT_FIELDS = {
  number: count,
  key_id: text(/^(?:void|[A-Za-z0-9+/]{22}==)$/),
  slot_id: userID,
  state: oneOf("pending", "submitted", "published", "objected", "taken", "withdrawn"),
  submitted: count,
  hold_ends_at: nullable(count),
  objected: nullable(count),
  approved: nullable(count),
  published: nullable(count),
  statement: text(),
};
/** Checks `AccountStatement`. */
export const accountStatement = object<AccountStatement>(ACCOUNT_STATEMENT_FIELDS);

const USER_ACCOUNT_FIELDS = {
  user_id: userID,
  account: text(),
  account_file: nullable(text()),
  next_account_file: nullable(text()),
  file_name: text(),
  number: nullable(count),
  statements: list(accountStatement),
};
/** Checks `UserAccount`. */
export const userAccount = object<UserAccount>(USER_ACCOUNT_FIELDS);

const AUDIT_ENTRY_FIELDS = {
  id: uuid,
  at: count,
  action: text(),
  actor: object({ kind: text(), id: nullable(text()), name: nullable(text()), token_id: nullable(text()) }),
  biz_id: nullable(text()),
  user_id: nullable(text()),
  data: dictionary(scalar),
  request_id: nullable(text()),
  address: nullable(text()),
};
/** Checks `AuditEntry`. */
export const auditEntry = object<AuditEntry>(AUDIT_ENTRY_FIELDS);

const CHALLENGE_FIELDS = {
  user_id: userID,
  state: oneOf("unregistered", "pending", "submitted", "published"),
  challenge: optional(text(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/)),
  key_type: optional(text()),
  ephemeral_key: optional(text()),
  expires: optional(count),
  service: optional(text()),
  chain_id: optional(nullable(count)),
  contract: optional(nullable(text())),
};
/** Checks `Challenge`. */
export const challenge = object<Challenge>(CHALLENGE_FIELDS);

const WEBHOOK_DELIVERY_FIELDS = {
  event_id: uuid,
  type: text(),
  state: oneOf("pending", "delivered", "failed"),
  attempts: count,
  created: count,
  last_attempt: nullable(count),
  next_attempt: nullable(count),
  status: nullable(count),
  error: nullable(text()),
};
/** Checks `WebhookDelivery`. */
export const webhookDelivery = object<WebhookDelivery>(WEBHOOK_DELIVERY_FIELDS);

const PARTNER_SUMMARY_FIELDS = {
  ...CREATED_PARTNER_FIELDS,
  suspended: nullable(count),
  user_limit: nullable(count),
  users: count,
  pending_keys: count,
  published_keys: count,
  server_tokens: count,
};
/** Checks `PartnerSummary`. */
export const partnerSummary = object<PartnerSummary>(PARTNER_SUMMARY_FIELDS);

const USER_KEY_FIELDS = {
  ...KEY_PROGRESS_FIELDS,
  user_id: userID,
  public_key: text(),
  key_id: text(/^[A-Za-z0-9+/=]*$/),
  possession: oneOf("proven", "unproven"),
  state: oneOf("pending", "submitted", "published"),
};
/** Checks `UserKey`. */
export const userKey = object<UserKey>(USER_KEY_FIELDS);

const KEY_CHANGE_FIELDS = { ...ACCOUNT_STATEMENT_FIELDS, user_id: userID };
/** Checks `KeyChange`. */
export const keyChange = object<KeyChange>(KEY_CHANGE_FIELDS);

const KEY_OF_USER_FIELDS = {
  ...KEY_PROGRESS_FIELDS,
  user_id: userID,
  public_key: optional(text()),
  key_id: optional(text(/^[A-Za-z0-9+/=]*$/)),
  possession: optional(oneOf("proven", "unproven")),
  state: oneOf("unregistered", "pending", "submitted", "published"),
  conflicting_keys: list(conflictingKey),
  events: list(keyEvent),
};
/** Checks `KeyOfUser`. */
export const keyOfUser = object<KeyOfUser>(KEY_OF_USER_FIELDS);

const REGISTERED_KEY_FIELDS = { ...USER_KEY_FIELDS, ...USER_FIELDS, conflicting_keys: list(conflictingKey) };
/** Checks `RegisteredKey`. */
export const registeredKey = object<RegisteredKey>(REGISTERED_KEY_FIELDS);

const USER_RECORD_FIELDS = {
  ...USER_FIELDS,
  ...KEY_PROGRESS_FIELDS,
  public_key: optional(text()),
  key_id: optional(text(/^[A-Za-z0-9+/=]*$/)),
  possession: optional(oneOf("proven", "unproven")),
  state: oneOf("unregistered", "pending", "submitted", "published"),
  conflicting_keys: list(conflictingKey),
};
/** Checks `UserRecord`. */
export const userRecord = object<UserRecord>(USER_RECORD_FIELDS);
