// Written by scripts/generate/clientTypes.ts from the service's table of operations. Do not edit.
import {
  type Check,
  boolean,
  both,
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
import type * as types from "./operations.ts";

const userFields: Check<types.UserFields> = (where, value) =>
  object({
    user_id: userID,
    bucket: text(),
    region: oneOf("us-west-2", "eu-west-1"),
    stage: text(),
    salt: text(/^[0-9a-f]{32}$/),
    created: count,
  })(where, value);

const keyProgress: Check<types.KeyProgress> = (where, value) =>
  object({
    hold_ends_at: optional(nullable(count)),
    root: optional(text(/^[0-9a-f]{64}$/)),
    transaction: optional(text(/^0x[0-9a-f]{64}$/)),
    number: optional(count),
    account_file: optional(text()),
  })(where, value);

export const deactivatedUser: Check<types.DeactivatedUser> = (where, value) =>
  object({ user_id: userID, deactivated: count })(where, value);

const partnerEvent: Check<types.PartnerEvent> = (where, value) =>
  object({ type: text(), at: count, id: uuid, data: dictionary(scalar) })(where, value);

export const eventPage: Check<types.EventPage> = (where, value) =>
  object({ events: list(partnerEvent), cursor: text(/^[A-Za-z0-9_-]{1,1000}$/) })(where, value);

export const removedKey: Check<types.RemovedKey> = (where, value) =>
  object({ user_id: userID, key_id: text(/^[A-Za-z0-9+/=]*$/), state: oneOf("unregistered") })(where, value);

export const erasedUser: Check<types.ErasedUser> = (where, value) =>
  object({ user_id: userID, erased: count, key: oneOf("deleted", "remains") })(where, value);

export const rotatedSecret: Check<types.RotatedSecret> = (where, value) =>
  object({ endpoint_id: uuid, secret: webhookSecret, previous_until: nullable(count) })(where, value);

export const createdPartner: Check<types.CreatedPartner> = (where, value) =>
  object({ biz_id: text(/^[\x21-\x7e]*$/), name: text(), created: count })(where, value);

const conflictingKey: Check<types.ConflictingKey> = (where, value) =>
  object({ public_key: text(), key_id: text(/^[A-Za-z0-9+/=]*$/), at: count, withdrawn: boolean })(where, value);

const keyEvent: Check<types.KeyEvent> = (where, value) =>
  object({
    type: oneOf("registered", "conflict", "withdrawn", "discarded", "approved"),
    key_id: text(/^[A-Za-z0-9+/=]*$/),
    at: count,
    after_withdrawal: boolean,
  })(where, value);

export const publishedBatch: Check<types.PublishedBatch> = (where, value) =>
  object({ root: text(/^[0-9a-f]{64}$/), users: count, transaction: text(/^0x[0-9a-f]{64}$/), block: count })(
    where,
    value,
  );

export const createdServerToken: Check<types.CreatedServerToken> = (where, value) =>
  object({ token_id: uuid, token: serverTokenText, name: nullable(text()), created: count })(where, value);

export const refreshToken: Check<types.RefreshToken> = (where, value) =>
  object({ token_id: uuid, context: text(), created: count, revoked: nullable(count), last_used: nullable(count) })(
    where,
    value,
  );

export const serverToken: Check<types.ServerToken> = (where, value) =>
  object({
    token_id: uuid,
    name: nullable(text()),
    created: count,
    revoked: nullable(count),
    last_used: nullable(count),
  })(where, value);

export const webhookEndpoint: Check<types.WebhookEndpoint> = (where, value) =>
  object({ endpoint_id: uuid, url: text(), types: list(text()), created: count, paused: nullable(count) })(
    where,
    value,
  );

export const webhookTest: Check<types.WebhookTest> = (where, value) =>
  object({ event_id: uuid, delivered: boolean, status: nullable(count), error: nullable(text()), duration: count })(
    where,
    value,
  );

export const staffInvitation: Check<types.StaffInvitation> = (where, value) =>
  object({ person_id: uuid, name: text(), role: oneOf("administrator", "reader"), url: invitationUrl, expires: count })(
    where,
    value,
  );

export const newWebhookEndpoint: Check<types.NewWebhookEndpoint> = (where, value) =>
  both(webhookEndpoint, object({ secret: webhookSecret }))(where, value);

export const revokedServerToken: Check<types.RevokedServerToken> = (where, value) =>
  both(serverToken, object({ biz_id: text(/^[\x21-\x7e]*$/) }))(where, value);

export const createdUser: Check<types.CreatedUser> = (where, value) =>
  both(userFields, object({ status: oneOf(201) }))(where, value);

export const shadowUser: Check<types.ShadowUser> = (where, value) =>
  both(userFields, object({ deactivated: nullable(count) }))(where, value);

const accountStatement: Check<types.AccountStatement> = (where, value) =>
  object({
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
  })(where, value);

export const userAccount: Check<types.UserAccount> = (where, value) =>
  object({
    user_id: userID,
    account: text(),
    account_file: nullable(text()),
    next_account_file: nullable(text()),
    file_name: text(),
    number: nullable(count),
    statements: list(accountStatement),
  })(where, value);

export const auditEntry: Check<types.AuditEntry> = (where, value) =>
  object({
    id: uuid,
    at: count,
    action: text(),
    actor: object({ kind: text(), id: nullable(text()), name: nullable(text()), token_id: nullable(text()) }),
    biz_id: nullable(text()),
    user_id: nullable(text()),
    data: dictionary(scalar),
    request_id: nullable(text()),
    address: nullable(text()),
  })(where, value);

export const challenge: Check<types.Challenge> = (where, value) =>
  object({
    user_id: userID,
    state: oneOf("unregistered", "pending", "submitted", "published"),
    challenge: optional(text(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/)),
    key_type: optional(text()),
    ephemeral_key: optional(text()),
    expires: optional(count),
    service: optional(text()),
    chain_id: optional(nullable(count)),
    contract: optional(nullable(text())),
  })(where, value);

export const webhookDelivery: Check<types.WebhookDelivery> = (where, value) =>
  object({
    event_id: uuid,
    type: text(),
    state: oneOf("pending", "delivered", "failed"),
    attempts: count,
    created: count,
    last_attempt: nullable(count),
    next_attempt: nullable(count),
    status: nullable(count),
    error: nullable(text()),
  })(where, value);

export const partnerSummary: Check<types.PartnerSummary> = (where, value) =>
  both(
    createdPartner,
    object({
      suspended: nullable(count),
      user_limit: nullable(count),
      users: count,
      pending_keys: count,
      published_keys: count,
      server_tokens: count,
    }),
  )(where, value);

export const userKey: Check<types.UserKey> = (where, value) =>
  both(
    keyProgress,
    object({
      user_id: userID,
      public_key: text(),
      key_id: text(/^[A-Za-z0-9+/=]*$/),
      possession: oneOf("proven", "unproven"),
      state: oneOf("pending", "submitted", "published"),
    }),
  )(where, value);

export const keyChange: Check<types.KeyChange> = (where, value) =>
  both(accountStatement, object({ user_id: userID }))(where, value);

export const keyOfUser: Check<types.KeyOfUser> = (where, value) =>
  both(
    keyProgress,
    object({
      user_id: userID,
      public_key: optional(text()),
      key_id: optional(text(/^[A-Za-z0-9+/=]*$/)),
      possession: optional(oneOf("proven", "unproven")),
      state: oneOf("unregistered", "pending", "submitted", "published"),
      conflicting_keys: list(conflictingKey),
      events: list(keyEvent),
    }),
  )(where, value);

export const registeredKey: Check<types.RegisteredKey> = (where, value) =>
  both(userKey, both(userFields, object({ conflicting_keys: list(conflictingKey) })))(where, value);

export const userRecord: Check<types.UserRecord> = (where, value) =>
  both(
    userFields,
    both(
      keyProgress,
      object({
        public_key: optional(text()),
        key_id: optional(text(/^[A-Za-z0-9+/=]*$/)),
        possession: optional(oneOf("proven", "unproven")),
        state: oneOf("unregistered", "pending", "submitted", "published"),
        conflicting_keys: list(conflictingKey),
      }),
    ),
  )(where, value);
