// Written by scripts/generate/clientTypes.ts from the service's table of operations. Do not edit.
import {
  type Check,
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

const userFields = () => ({
  user_id: userID,
  bucket: text(),
  region: oneOf("us-west-2", "eu-west-1"),
  stage: text(),
  salt: text(/^[0-9a-f]{32}$/),
  created: count,
});

const keyProgressFields = () => ({
  hold_ends_at: optional(nullable(count)),
  root: optional(text(/^[0-9a-f]{64}$/)),
  transaction: optional(text(/^0x[0-9a-f]{64}$/)),
  number: optional(count),
  account_file: optional(text()),
});

const deactivatedUserFields = () => ({ user_id: userID, deactivated: count });
/** Checks `DeactivatedUser`. */
export const deactivatedUser: Check<DeactivatedUser> = (where, value) =>
  object<DeactivatedUser>(deactivatedUserFields())(where, value);

const partnerEventFields = () => ({ type: text(), at: count, id: uuid, data: dictionary(scalar) });
/** Checks `PartnerEvent`. */
const partnerEvent: Check<PartnerEvent> = (where, value) => object<PartnerEvent>(partnerEventFields())(where, value);

const eventPageFields = () => ({ events: list(partnerEvent), cursor: text(/^[A-Za-z0-9_-]{1,1000}$/) });
/** Checks `EventPage`. */
export const eventPage: Check<EventPage> = (where, value) => object<EventPage>(eventPageFields())(where, value);

const removedKeyFields = () => ({ user_id: userID, key_id: text(/^[A-Za-z0-9+/=]*$/), state: oneOf("unregistered") });
/** Checks `RemovedKey`. */
export const removedKey: Check<RemovedKey> = (where, value) => object<RemovedKey>(removedKeyFields())(where, value);

const erasedUserFields = () => ({ user_id: userID, erased: count, key: oneOf("deleted", "remains") });
/** Checks `ErasedUser`. */
export const erasedUser: Check<ErasedUser> = (where, value) => object<ErasedUser>(erasedUserFields())(where, value);

const rotatedSecretFields = () => ({ endpoint_id: uuid, secret: webhookSecret, previous_until: nullable(count) });
/** Checks `RotatedSecret`. */
export const rotatedSecret: Check<RotatedSecret> = (where, value) =>
  object<RotatedSecret>(rotatedSecretFields())(where, value);

const createdPartnerFields = () => ({ biz_id: text(/^[\x21-\x7e]*$/), name: text(), created: count });
/** Checks `CreatedPartner`. */
export const createdPartner: Check<CreatedPartner> = (where, value) =>
  object<CreatedPartner>(createdPartnerFields())(where, value);

const conflictingKeyFields = () => ({
  public_key: text(),
  key_id: text(/^[A-Za-z0-9+/=]*$/),
  at: count,
  withdrawn: boolean,
});
/** Checks `ConflictingKey`. */
const conflictingKey: Check<ConflictingKey> = (where, value) =>
  object<ConflictingKey>(conflictingKeyFields())(where, value);

const keyEventFields = () => ({
  type: oneOf("registered", "conflict", "withdrawn", "discarded", "approved"),
  key_id: text(/^[A-Za-z0-9+/=]*$/),
  at: count,
  after_withdrawal: boolean,
});
/** Checks `KeyEvent`. */
const keyEvent: Check<KeyEvent> = (where, value) => object<KeyEvent>(keyEventFields())(where, value);

const publishedBatchFields = () => ({
  root: text(/^[0-9a-f]{64}$/),
  users: count,
  transaction: text(/^0x[0-9a-f]{64}$/),
  block: count,
});
/** Checks `PublishedBatch`. */
export const publishedBatch: Check<PublishedBatch> = (where, value) =>
  object<PublishedBatch>(publishedBatchFields())(where, value);

const createdServerTokenFields = () => ({
  token_id: uuid,
  token: serverTokenText,
  name: nullable(text()),
  created: count,
});
/** Checks `CreatedServerToken`. */
export const createdServerToken: Check<CreatedServerToken> = (where, value) =>
  object<CreatedServerToken>(createdServerTokenFields())(where, value);

const refreshTokenFields = () => ({
  token_id: uuid,
  context: text(),
  created: count,
  revoked: nullable(count),
  last_used: nullable(count),
});
/** Checks `RefreshToken`. */
export const refreshToken: Check<RefreshToken> = (where, value) =>
  object<RefreshToken>(refreshTokenFields())(where, value);

const serverTokenFields = () => ({
  token_id: uuid,
  name: nullable(text()),
  created: count,
  revoked: nullable(count),
  last_used: nullable(count),
});
/** Checks `ServerToken`. */
export const serverToken: Check<ServerToken> = (where, value) => object<ServerToken>(serverTokenFields())(where, value);

const webhookEndpointFields = () => ({
  endpoint_id: uuid,
  url: text(),
  types: list(text()),
  created: count,
  paused: nullable(count),
});
/** Checks `WebhookEndpoint`. */
export const webhookEndpoint: Check<WebhookEndpoint> = (where, value) =>
  object<WebhookEndpoint>(webhookEndpointFields())(where, value);

const webhookTestFields = () => ({
  event_id: uuid,
  delivered: boolean,
  status: nullable(count),
  error: nullable(text()),
  duration: count,
});
/** Checks `WebhookTest`. */
export const webhookTest: Check<WebhookTest> = (where, value) => object<WebhookTest>(webhookTestFields())(where, value);

const staffInvitationFields = () => ({
  person_id: uuid,
  name: text(),
  role: oneOf("administrator", "reader"),
  url: invitationUrl,
  expires: count,
});
/** Checks `StaffInvitation`. */
export const staffInvitation: Check<StaffInvitation> = (where, value) =>
  object<StaffInvitation>(staffInvitationFields())(where, value);

const newWebhookEndpointFields = () => ({ ...webhookEndpointFields(), secret: webhookSecret });
/** Checks `NewWebhookEndpoint`. */
export const newWebhookEndpoint: Check<NewWebhookEndpoint> = (where, value) =>
  object<NewWebhookEndpoint>(newWebhookEndpointFields())(where, value);

const revokedServerTokenFields = () => ({ ...serverTokenFields(), biz_id: text(/^[\x21-\x7e]*$/) });
/** Checks `RevokedServerToken`. */
export const revokedServerToken: Check<RevokedServerToken> = (where, value) =>
  object<RevokedServerToken>(revokedServerTokenFields())(where, value);

const createdUserFields = () => ({ ...userFields(), status: oneOf(201) });
/** Checks `CreatedUser`. */
export const createdUser: Check<CreatedUser> = (where, value) => object<CreatedUser>(createdUserFields())(where, value);

const shadowUserFields = () => ({ ...userFields(), deactivated: nullable(count) });
/** Checks `ShadowUser`. */
export const shadowUser: Check<ShadowUser> = (where, value) => object<ShadowUser>(shadowUserFields())(where, value);

const accountStatementFields = () => ({
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
});
/** Checks `AccountStatement`. */
const accountStatement: Check<AccountStatement> = (where, value) =>
  object<AccountStatement>(accountStatementFields())(where, value);

const userAccountFields = () => ({
  user_id: userID,
  account: text(),
  account_file: nullable(text()),
  next_account_file: nullable(text()),
  file_name: text(),
  number: nullable(count),
  statements: list(accountStatement),
});
/** Checks `UserAccount`. */
export const userAccount: Check<UserAccount> = (where, value) => object<UserAccount>(userAccountFields())(where, value);

const auditEntryFields = () => ({
  id: uuid,
  at: count,
  action: text(),
  actor: object({ kind: text(), id: nullable(text()), name: nullable(text()), token_id: nullable(text()) }),
  biz_id: nullable(text()),
  user_id: nullable(text()),
  data: dictionary(scalar),
  request_id: nullable(text()),
  address: nullable(text()),
});
/** Checks `AuditEntry`. */
export const auditEntry: Check<AuditEntry> = (where, value) => object<AuditEntry>(auditEntryFields())(where, value);

const challengeFields = () => ({
  user_id: userID,
  state: oneOf("unregistered", "pending", "submitted", "published"),
  challenge: optional(text(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/)),
  key_type: optional(text()),
  ephemeral_key: optional(text()),
  expires: optional(count),
  service: optional(text()),
  chain_id: optional(nullable(count)),
  contract: optional(nullable(text())),
});
/** Checks `Challenge`. */
export const challenge: Check<Challenge> = (where, value) => object<Challenge>(challengeFields())(where, value);

const webhookDeliveryFields = () => ({
  event_id: uuid,
  type: text(),
  state: oneOf("pending", "delivered", "failed"),
  attempts: count,
  created: count,
  last_attempt: nullable(count),
  next_attempt: nullable(count),
  status: nullable(count),
  error: nullable(text()),
});
/** Checks `WebhookDelivery`. */
export const webhookDelivery: Check<WebhookDelivery> = (where, value) =>
  object<WebhookDelivery>(webhookDeliveryFields())(where, value);

const partnerSummaryFields = () => ({
  ...createdPartnerFields(),
  suspended: nullable(count),
  user_limit: nullable(count),
  users: count,
  pending_keys: count,
  published_keys: count,
  server_tokens: count,
});
/** Checks `PartnerSummary`. */
export const partnerSummary: Check<PartnerSummary> = (where, value) =>
  object<PartnerSummary>(partnerSummaryFields())(where, value);

const userKeyFields = () => ({
  ...keyProgressFields(),
  user_id: userID,
  public_key: text(),
  key_id: text(/^[A-Za-z0-9+/=]*$/),
  possession: oneOf("proven", "unproven"),
  state: oneOf("pending", "submitted", "published"),
});
/** Checks `UserKey`. */
export const userKey: Check<UserKey> = (where, value) => object<UserKey>(userKeyFields())(where, value);

const keyChangeFields = () => ({ ...accountStatementFields(), user_id: userID });
/** Checks `KeyChange`. */
export const keyChange: Check<KeyChange> = (where, value) => object<KeyChange>(keyChangeFields())(where, value);

const keyOfUserFields = () => ({
  ...keyProgressFields(),
  user_id: userID,
  public_key: optional(text()),
  key_id: optional(text(/^[A-Za-z0-9+/=]*$/)),
  possession: optional(oneOf("proven", "unproven")),
  state: oneOf("unregistered", "pending", "submitted", "published"),
  conflicting_keys: list(conflictingKey),
  events: list(keyEvent),
});
/** Checks `KeyOfUser`. */
export const keyOfUser: Check<KeyOfUser> = (where, value) => object<KeyOfUser>(keyOfUserFields())(where, value);

const registeredKeyFields = () => ({ ...userKeyFields(), ...userFields(), conflicting_keys: list(conflictingKey) });
/** Checks `RegisteredKey`. */
export const registeredKey: Check<RegisteredKey> = (where, value) =>
  object<RegisteredKey>(registeredKeyFields())(where, value);

const userRecordFields = () => ({
  ...userFields(),
  ...keyProgressFields(),
  public_key: optional(text()),
  key_id: optional(text(/^[A-Za-z0-9+/=]*$/)),
  possession: optional(oneOf("proven", "unproven")),
  state: oneOf("unregistered", "pending", "submitted", "published"),
  conflicting_keys: list(conflictingKey),
});
/** Checks `UserRecord`. */
export const userRecord: Check<UserRecord> = (where, value) => object<UserRecord>(userRecordFields())(where, value);
