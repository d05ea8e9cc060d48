// Written by scripts/generate/clientTypes.ts from the service's table of operations. Do not edit.
import type { Region, UserID } from "keyroot/internal/identity";

/** The fields of a shadow user (docs/specification.md, "Shadow user"). */
export interface UserFields {
  /** The user's id (160 bits) as 32 characters of zBase32. */
  user_id: UserID;
  /** The name of the user's storage bucket: <prefix>-<stage>-<region>-<user_id>. */
  bucket: string;
  /** The region of the user's data: us-west-2 (Oregon) or eu-west-1 (Ireland). */
  region: Region;
  /** The name of the deployment stage. */
  stage: string;
  /** A random value for this user, as 32 hex digits. */
  salt: string;
  /** A time in milliseconds since 1970-01-01, UTC. */
  created: number;
}

/** The progress of a key to the chain. With accounts, also its number and the account file. */
export interface KeyProgress {
  /** The end of a pending key's hold period. The service publishes the key at this time or later. Null while the key waits for the partner's decision about a conflicting key. */
  hold_ends_at?: number | null | undefined;
  /** The root of the Merkle tree that contains the key. Its file is <root>.json. */
  root?: string | undefined;
  /** The hash of the transaction that published the root. */
  transaction?: string | undefined;
  /** The number of the key in the user's account: 0 for the first key. */
  number?: number | undefined;
  /** The account file, which proves to a verifier that the key is the newest one. It is present only if users have accounts. */
  account_file?: string | undefined;
}

/** A user whose tokens are rejected. */
export interface DeactivatedUser {
  /** The user's id (160 bits) as 32 characters of zBase32. */
  user_id: UserID;
  /** A time in milliseconds since 1970-01-01, UTC. */
  deactivated: number;
}

/** The events after a cursor, the oldest first. */
export interface EventPage {
  events: PartnerEvent[];
  /** The cursor after these events. Send it as `after` to get later events. */
  cursor: string;
}

/** A key that was removed before its publication. */
export interface RemovedKey {
  /** The user's id (160 bits) as 32 characters of zBase32. */
  user_id: UserID;
  /** The key id: the first 16 bytes of the public key's SHA-256, in base64. */
  key_id: string;
  state: "unregistered";
}

/** A user whose data was deleted. */
export interface ErasedUser {
  /** The user's id (160 bits) as 32 characters of zBase32. */
  user_id: UserID;
  /** A time in milliseconds since 1970-01-01, UTC. */
  erased: number;
  /** `remains` if the public key is on the chain or is being published, otherwise `deleted`. */
  key: "deleted" | "remains";
}

/** The new secret of an endpoint. */
export interface RotatedSecret {
  /** The id of a webhook endpoint. */
  endpoint_id: string;
  /** The secret with which you verify deliveries: whsec_ and 32 bytes in base64. The service returns it only once. */
  secret: string;
  /** The time until which the service also signs deliveries with the earlier secrets. */
  previous_until: number | null;
}

/** A new partner. */
export interface CreatedPartner {
  /** The id of the partner. */
  biz_id: string;
  /** A human-friendly name, at most 200 characters. */
  name: string;
  /** A time in milliseconds since 1970-01-01, UTC. */
  created: number;
}

/** A conflicting key. */
export interface ConflictingKey {
  /** The public key in base64, of the registry's key type. By default, it is an uncompressed point of Curve41417: 105 bytes. */
  public_key: string;
  /** The key id: the first 16 bytes of the public key's SHA-256, in base64. */
  key_id: string;
  /** The time at which the key was offered or withdrawn. */
  at: number;
  /** true if the key was registered and later withdrawn, false if the service rejected it. */
  withdrawn: boolean;
}

/** A change of a user's key before its publication. */
export interface KeyEvent {
  type: "registered" | "conflict" | "withdrawn" | "discarded" | "approved";
  /** The key id: the first 16 bytes of the public key's SHA-256, in base64. */
  key_id: string;
  /** A time in milliseconds since 1970-01-01, UTC. */
  at: number;
  /** For `registered`: true if an earlier key was withdrawn or discarded. */
  after_withdrawal: boolean;
}

/** A change of the partner or one of its users. */
export interface PartnerEvent {
  /** The kind of change. */
  type: string;
  /** A time in milliseconds since 1970-01-01, UTC. */
  at: number;
  /** The id of the event. It is the same each time the event is listed. */
  id: string;
  /** Ids and values of the change, such as `user_id` and `key_id`. */
  data: Record<string, string | number | boolean | null>;
}

/** A published batch. */
export interface PublishedBatch {
  /** The root of the Merkle tree that contains the key. Its file is <root>.json. */
  root: string;
  /** The number of users who now have this root. */
  users: number;
  /** The hash of the transaction that published the root. */
  transaction: string;
  /** The number of the transaction's block. */
  block: number;
}

/** A new server token. */
export interface CreatedServerToken {
  /** The id of a refresh token. It is not a secret. */
  token_id: string;
  /** The value of the server token. The service returns it only once. */
  token: string;
  name: string | null;
  /** A time in milliseconds since 1970-01-01, UTC. */
  created: number;
}

/** A user refresh token without its value. */
export interface RefreshToken {
  /** The id of a refresh token. It is not a secret. */
  token_id: string;
  /** The device or purpose of a user's refresh token, at most 200 characters. */
  context: string;
  /** A time in milliseconds since 1970-01-01, UTC. */
  created: number;
  /** The time of the token's revocation. Null while the token is active. */
  revoked: number | null;
  /** The start of the hour in which the token was last used. The service stores it some seconds after the use. Null before the first use. */
  last_used: number | null;
}

/** A server token without its value. */
export interface ServerToken {
  /** The id of a refresh token. It is not a secret. */
  token_id: string;
  name: string | null;
  /** A time in milliseconds since 1970-01-01, UTC. */
  created: number;
  /** The time of the token's revocation. Null while the token is active. */
  revoked: number | null;
  /** The start of the hour in which the token was last used. The service stores it some seconds after the use. Null before the first use. */
  last_used: number | null;
}

/** An endpoint that receives events. */
export interface WebhookEndpoint {
  /** The id of a webhook endpoint. */
  endpoint_id: string;
  url: string;
  /** The event types that the endpoint receives. An empty list means all types. */
  types: string[];
  /** A time in milliseconds since 1970-01-01, UTC. */
  created: number;
  /** The start of the pause. Null while the endpoint is active. */
  paused: number | null;
}

/** An endpoint's response to a test. */
export interface WebhookTest {
  /** The id of an event. It is the same in every delivery of the event. */
  event_id: string;
  /** true if the endpoint returned a 2xx status. */
  delivered: boolean;
  /** The HTTP status of the last response. Null if there is none. */
  status: number | null;
  /** The reason for the last failure. Null if there is none. */
  error: string | null;
  /** The time in milliseconds until the response. */
  duration: number;
}

/** An invitation to the dashboard. */
export interface StaffInvitation {
  /** The id of the person. */
  person_id: string;
  /** A human-friendly name, at most 200 characters. */
  name: string;
  /** The person's role in the dashboard. An administrator can change everything, and a reader nothing. */
  role: "administrator" | "reader";
  /** The link for the person. It works once, and the service returns it only once. */
  url: string;
  /** The time at which the link expires, in milliseconds since 1970-01-01, UTC. */
  expires: number;
}

/** A new endpoint with its secret. */
export interface NewWebhookEndpoint extends WebhookEndpoint {
  /** The secret with which you verify deliveries: whsec_ and 32 bytes in base64. The service returns it only once. */
  secret: string;
}

/** A revoked server token and its partner. */
export interface RevokedServerToken extends ServerToken {
  /** The id of the partner. */
  biz_id: string;
}

/** A new shadow user, or the one that an earlier call created. */
export interface CreatedUser extends UserFields {
  status: 201;
}

/** A shadow user (docs/specification.md, "Shadow user") with the time of its deactivation. */
export interface ShadowUser extends UserFields {
  /** The time of the user's deactivation. Null while the user is active. */
  deactivated: number | null;
}

/** A user's account with its statements. */
export interface UserAccount {
  /** The user's id (160 bits) as 32 characters of zBase32. */
  user_id: UserID;
  /** The account text. */
  account: string;
  /** The account file of the current key, for contacts. Null while the user has no key. */
  account_file: string | null;
  /** The account file of the key that is being published. Null if there is none. */
  next_account_file: string | null;
  /** The name of the account file at the file host. */
  file_name: string;
  number: number | null;
  /** All statements that the service received, in order. */
  statements: AccountStatement[];
}

/** An entry of the audit log. */
export interface AuditEntry {
  /** The id of the entry. */
  id: string;
  /** A time in milliseconds since 1970-01-01, UTC. */
  at: number;
  /** The kind of change. */
  action: string;
  actor: {
    /** The kind of author, one of: service, operator, person, partner, user. */
    kind: string;
    /** The id of the server token, the user or the person. Null if there is none. */
    id: string | null;
    /** The name of a person. Null if there is none. */
    name: string | null;
    /** The id of the refresh token or server token from which the access token came. Null if there is none. */
    token_id: string | null;
  };
  /** The partner that the change concerns. Null if there is none. */
  biz_id: string | null;
  /** The user that the change concerns. Null if there is none. */
  user_id: string | null;
  /** Additional ids and values of the change, without secrets. */
  data: Record<string, string | number | boolean | null>;
  /** The id of the request in the service's log. Null if there is none. */
  request_id: string | null;
  /** The IP address of the caller. Null if there is none. */
  address: string | null;
}

/** A challenge for a key, or the key's state if the user has already registered it. */
export interface Challenge {
  /** The user's id (160 bits) as 32 characters of zBase32. */
  user_id: UserID;
  /** The state of the user's key. `challenge`, `ephemeral_key` and `expires` are present only if the user has no key yet, because a registered key needs no challenge. */
  state: "unregistered" | "pending" | "submitted" | "published";
  /** The challenge: 32 random bytes in base64. */
  challenge?: string | undefined;
  /** The type of the registry's keys, one of: curve41417, x25519, ed25519, p256, document. Compare it with your configuration, and never configure an app from it. */
  key_type?: string | undefined;
  /** The service's public key for this challenge, in base64, with the length of the registry's keys. Absent if the response is a signature. */
  ephemeral_key?: string | undefined;
  /** A time in milliseconds since 1970-01-01, UTC. */
  expires?: number | undefined;
  /** The URL of the service. Compare it with your configuration, and compute the response with your own value. */
  service?: string | undefined;
  /** The id of the chain on which the service publishes keys. Null if the service does not publish. Compare it with your configuration, and compute the response with your own value. */
  chain_id?: number | null | undefined;
  /** The contract in which the service publishes keys. Null if the service does not publish. Compare it with your configuration, and compute the response with your own value. */
  contract?: string | null | undefined;
}

/** A delivery of an event. */
export interface WebhookDelivery {
  /** The id of an event. It is the same in every delivery of the event. */
  event_id: string;
  type: string;
  /** The state of the delivery. The service repeats a `failed` delivery only on request. */
  state: "pending" | "delivered" | "failed";
  /** The number of attempts so far. */
  attempts: number;
  /** A time in milliseconds since 1970-01-01, UTC. */
  created: number;
  /** The end of the last attempt. Null before the first attempt. */
  last_attempt: number | null;
  /** The time of the next attempt of a pending delivery. Null for other deliveries. */
  next_attempt: number | null;
  /** The HTTP status of the last response. Null if there is none. */
  status: number | null;
  /** The reason for the last failure. Null if there is none. */
  error: string | null;
}

/** A partner with its numbers of users, keys and server tokens. */
export interface PartnerSummary extends CreatedPartner {
  /** The time of the partner's suspension. Null if the partner is not suspended. */
  suspended: number | null;
  /** The maximum number of the partner's users. Null if there is no limit. */
  user_limit: number | null;
  /** The number of the partner's users. */
  users: number;
  /** The number of registered public keys that are not on the chain. */
  pending_keys: number;
  /** The number of public keys on the chain. */
  published_keys: number;
  /** The number of the partner's active server tokens. */
  server_tokens: number;
}

/** A user's public key as the service states it, unverified. */
export interface UserKey extends KeyProgress {
  /** The user's id (160 bits) as 32 characters of zBase32. */
  user_id: UserID;
  /** The public key in base64, of the registry's key type. By default, it is an uncompressed point of Curve41417: 105 bytes. */
  public_key: string;
  /** The key id: the first 16 bytes of the public key's SHA-256, in base64. */
  key_id: string;
  /** `proven` if the user proved possession of the private key at registration, `unproven` if the partner registered the key for the user. */
  possession: "proven" | "unproven";
  state: "pending" | "submitted" | "published";
}

/** A statement of an account. */
export interface AccountStatement {
  /** The number of the key in the user's account: 0 for the first key. */
  number: number;
  /** The key id of the statement's key, or `void`. */
  key_id: string;
  /** The id under which the key is published. For number 0, it is the user's id. */
  slot_id: UserID;
  /** `pending`: the statement is in its hold period, or waits for a publisher after it. `submitted`: a publisher has taken the key. `published`: the key is on the chain, or the void statement is in the account file. `objected`: there was an objection, so the statement is not published. `taken`: the slot holds another key, so sign a statement with the next number. `withdrawn`: the first key was removed. */
  state: "pending" | "submitted" | "published" | "objected" | "taken" | "withdrawn";
  /** A time in milliseconds since 1970-01-01, UTC. */
  submitted: number;
  /** The end of a pending statement's hold period. */
  hold_ends_at: number | null;
  objected: number | null;
  approved: number | null;
  /** The time when the key was confirmed on the chain. */
  published: number | null;
  /** The signed statement. */
  statement: string;
}

/** A statement of a user's account. */
export interface KeyChange extends AccountStatement {
  /** The user's id (160 bits) as 32 characters of zBase32. */
  user_id: UserID;
}

/** A user's key as the service states it to the partner, unverified. It is present unless the state is `unregistered`. */
export interface KeyOfUser extends KeyProgress {
  /** The user's id (160 bits) as 32 characters of zBase32. */
  user_id: UserID;
  /** The public key in base64, of the registry's key type. By default, it is an uncompressed point of Curve41417: 105 bytes. */
  public_key?: string | undefined;
  /** The key id: the first 16 bytes of the public key's SHA-256, in base64. */
  key_id?: string | undefined;
  /** `proven` if the user proved possession of the private key at registration, `unproven` if the partner registered the key for the user. */
  possession?: "proven" | "unproven" | undefined;
  state: "unregistered" | "pending" | "submitted" | "published";
  /** The user's conflicting keys about which the partner has not decided: at most 100 withdrawn keys, and at most 10 keys that the service rejected. */
  conflicting_keys: ConflictingKey[];
  /** The history of the user's keys: at most 100 events, newest first. */
  events: KeyEvent[];
}

/** A user's own record with the registered key. */
export interface RegisteredKey extends UserKey, UserFields {
  /** The user's conflicting keys about which the partner has not decided: at most 100 withdrawn keys, and at most 10 keys that the service rejected. */
  conflicting_keys: ConflictingKey[];
}

/** A user's own record. It contains a key unless its state is `unregistered`. */
export interface UserRecord extends UserFields, KeyProgress {
  /** The public key in base64, of the registry's key type. By default, it is an uncompressed point of Curve41417: 105 bytes. */
  public_key?: string | undefined;
  /** The key id: the first 16 bytes of the public key's SHA-256, in base64. */
  key_id?: string | undefined;
  /** `proven` if the user proved possession of the private key at registration, `unproven` if the partner registered the key for the user. */
  possession?: "proven" | "unproven" | undefined;
  state: "unregistered" | "pending" | "submitted" | "published";
  /** The user's conflicting keys about which the partner has not decided: at most 100 withdrawn keys, and at most 10 keys that the service rejected. */
  conflicting_keys: ConflictingKey[];
}

/** The id of a user, in one of its two forms. */
interface UserInRequest {
  /** The user's id (160 bits) as 32 characters of zBase32. */
  user_id?: UserID | undefined;
  /** The user's id (160 bits) as 40 hex digits, in uppercase or lowercase. */
  user_id_hex?: string | undefined;
}

/** The entries of an audit log to list. */
interface AuditFilter {
  /** List only entries with this action. */
  action?: string | undefined;
  /** List only changes by actors of this kind. */
  actor_kind?: "service" | "operator" | "person" | "partner" | "user" | undefined;
  /** List only changes by the server token, user or person with this id. For a user, this is the `user_id`. */
  actor_id?: string | undefined;
  /** List only changes to this user. The id has 32 characters of zBase32. */
  user_id?: UserID | undefined;
  /** List only changes to this user. The id has 40 hex digits. */
  user_id_hex?: string | undefined;
  /** List only entries at or after this time. */
  since?: number | undefined;
  /** List only entries before this time. */
  until?: number | undefined;
  /** The maximum number of items on the page. */
  limit?: number | undefined;
  /** The `next` of the previous page. Without it, the list begins with the first page. */
  after?: string | undefined;
}

/** The types of the request body and the response of each operation, by its path. */
interface Operations {
  "/v1/public/auth/jwt": { body: { biz_id: string; token: string }; answer: { jwt: string } };
  "/v1/authdBizSrv/users/createMany": {
    body: { users: (UserInRequest & { region: Region; context?: string | undefined })[] };
    answer: {
      users: (
        (UserFields & { status: 201; token?: string | undefined }) | { status: number; code: string; detail: string }
      )[];
    };
  };
  "/v1/authdBizSrv/users/createRefreshToken": {
    body: { user_id_hex: string; context: string };
    answer: { token: string };
  };
  "/v1/authdBizSrv/users/listRefreshTokens": {
    body: UserInRequest & { since?: number | undefined; limit?: number | undefined; after?: string | undefined };
    answer: { tokens: RefreshToken[]; next: string | null };
  };
  "/v1/authdBizSrv/users/revokeRefreshToken": { body: UserInRequest & { token_id: string }; answer: RefreshToken };
  "/v1/authdBizSrv/serverTokens/list": {
    body: { since?: number | undefined; limit?: number | undefined; after?: string | undefined };
    answer: { tokens: ServerToken[]; next: string | null };
  };
  "/v1/authdBizSrv/serverTokens/revoke": { body: { token_id: string }; answer: ServerToken };
  "/v1/authdBizSrv/users/create": { body: { user_id_hex: string; region: Region }; answer: CreatedUser };
  "/v1/authdBizSrv/users/get": { body: UserInRequest; answer: ShadowUser };
  "/v1/authdBizSrv/users/list": {
    body: { limit?: number | undefined; after?: UserID | undefined };
    answer: { users: ShadowUser[]; next: UserID | null };
  };
  "/v1/authdBizSrv/users/deactivate": { body: UserInRequest; answer: DeactivatedUser };
  "/v1/authdBizSrv/users/erase": { body: UserInRequest; answer: ErasedUser };
  "/v1/authdUser/publicKey/challenge": { body: { public_key: string; key_id: string }; answer: Challenge };
  "/v1/authdUser/publicKey/register": {
    body: { public_key: string; key_id: string; challenge?: string | undefined; response?: string | undefined };
    answer: RegisteredKey;
  };
  "/v1/authdUser/publicKey/withdraw": { body: { key_id: string }; answer: RemovedKey };
  "/v1/authdUser/record/get": { body: Record<string, never>; answer: UserRecord };
  "/v1/authdUser/publicKey/get": { body: { user_id: UserID }; answer: UserKey };
  "/v1/authdBizSrv/publicKeys/register": {
    body: UserInRequest & { public_key: string; key_id: string };
    answer: UserKey;
  };
  "/v1/authdBizSrv/publicKeys/get": { body: UserInRequest; answer: KeyOfUser };
  "/v1/authdBizSrv/publicKeys/discard": { body: UserInRequest & { key_id: string }; answer: RemovedKey };
  "/v1/authdBizSrv/publicKeys/approve": { body: UserInRequest & { key_id: string }; answer: UserKey };
  "/v1/authdUser/account/store": { body: { account: string }; answer: UserAccount };
  "/v1/authdUser/account/get": { body: Record<string, never>; answer: UserAccount };
  "/v1/authdUser/account/submit": {
    body: { statement: string; challenge?: string | undefined; response?: string | undefined };
    answer: KeyChange;
  };
  "/v1/authdUser/account/object": { body: { objection: string }; answer: KeyChange };
  "/v1/authdBizSrv/accounts/get": { body: UserInRequest; answer: UserAccount };
  "/v1/authdBizSrv/accounts/object": { body: UserInRequest & { number: number; key_id: string }; answer: KeyChange };
  "/v1/authdBizSrv/accounts/approve": { body: UserInRequest & { number: number; key_id: string }; answer: KeyChange };
  "/v1/authdBizSrv/events/list": {
    body: { limit?: number | undefined; after?: string | undefined };
    answer: EventPage;
  };
  "/v1/authdBizSrv/webhooks/create": {
    body: { url: string; types?: string[] | undefined };
    answer: NewWebhookEndpoint;
  };
  "/v1/authdBizSrv/webhooks/list": {
    body: Record<string, never>;
    answer: { enabled: boolean; endpoints: WebhookEndpoint[] };
  };
  "/v1/authdBizSrv/webhooks/update": {
    body: { endpoint_id: string; url?: string | undefined; types?: string[] | undefined };
    answer: WebhookEndpoint;
  };
  "/v1/authdBizSrv/webhooks/pause": { body: { endpoint_id: string }; answer: WebhookEndpoint };
  "/v1/authdBizSrv/webhooks/resume": { body: { endpoint_id: string }; answer: WebhookEndpoint };
  "/v1/authdBizSrv/webhooks/delete": { body: { endpoint_id: string }; answer: { endpoint_id: string } };
  "/v1/authdBizSrv/webhooks/rotateSecret": { body: { endpoint_id: string }; answer: RotatedSecret };
  "/v1/authdBizSrv/webhooks/test": { body: { endpoint_id: string }; answer: WebhookTest };
  "/v1/authdBizSrv/webhooks/listDeliveries": {
    body: {
      endpoint_id: string;
      state?: "pending" | "delivered" | "failed" | undefined;
      limit?: number | undefined;
      after?: string | undefined;
    };
    answer: { deliveries: WebhookDelivery[]; next: string | null };
  };
  "/v1/authdBizSrv/webhooks/redeliver": { body: { endpoint_id: string; event_id: string }; answer: { queued: number } };
  "/v1/authdBizSrv/webhooks/redeliverFailed": {
    body: { endpoint_id: string; since: number };
    answer: { queued: number };
  };
  "/v1/authdBizSrv/audit/list": { body: AuditFilter; answer: { entries: AuditEntry[]; next: string | null } };
  "/v1/admin/serverTokens/create": { body: { biz_id: string; name?: string | undefined }; answer: CreatedServerToken };
  "/v1/admin/serverTokens/list": {
    body: { biz_id: string; since?: number | undefined; limit?: number | undefined; after?: string | undefined };
    answer: { tokens: ServerToken[]; next: string | null };
  };
  "/v1/admin/serverTokens/revoke": { body: { token_id: string }; answer: RevokedServerToken };
  "/v1/admin/publicKeys/discard": { body: UserInRequest & { biz_id: string; key_id: string }; answer: RemovedKey };
  "/v1/admin/audit/list": {
    body: AuditFilter & { biz_id?: string | undefined };
    answer: { entries: AuditEntry[]; next: string | null };
  };
  "/v1/admin/partners/create": { body: { name: string }; answer: CreatedPartner };
  "/v1/admin/partners/get": { body: { biz_id: string }; answer: PartnerSummary };
  "/v1/admin/partners/list": {
    body: { search?: string | undefined; limit?: number | undefined; after?: string | undefined };
    answer: { partners: PartnerSummary[]; next: string | null };
  };
  "/v1/admin/partners/suspend": { body: { biz_id: string }; answer: PartnerSummary };
  "/v1/admin/partners/resume": { body: { biz_id: string }; answer: PartnerSummary };
  "/v1/admin/partners/setUserLimit": {
    body: { biz_id: string; user_limit?: number | undefined };
    answer: PartnerSummary;
  };
  "/v1/admin/publishRegistered": { body: Record<string, never>; answer: { batches: PublishedBatch[] } };
  "/v1/admin/staff/invite": {
    body: { biz_id: string; name: string; role?: "administrator" | "reader" | undefined };
    answer: StaffInvitation;
  };
  "/v1/admin/staff/remove": { body: { biz_id: string; name: string }; answer: Record<string, never> };
  "/v1/admin/operators/invite": {
    body: { name: string; role?: "administrator" | "reader" | undefined };
    answer: StaffInvitation;
  };
}

/** The path of an operation. */
export type OperationPath = keyof Operations;

/** The body of an operation's request. */
export type BodyOf<Path extends OperationPath> = Operations[Path]["body"];

/** The response of an operation. */
export type AnswerOf<Path extends OperationPath> = Operations[Path]["answer"];
