// Written by scripts/generate/clientTypes.ts from the service's table of operations. Do not edit.
import type { Region } from "../identity/region.ts";
import type { UserID } from "../identity/userID.ts";

/** A shadow user (docs/specification.md, "Shadow user"). */
export interface ShadowUser {
  /** The user's id: the same 160 bits as 32 characters of zBase32. */
  user_id: UserID;
  /** The name of the user's storage container: <prefix>-<stage>-<region>-<user_id>. */
  bucket: string;
  /** Where the user's data is stored: Oregon or Ireland. */
  region: Region;
  /** The name of the deployment stage. */
  stage: string;
  /** A random value of this user, 32 hex digits. */
  salt: string;
  /** Milliseconds since 1970-01-01, UTC. */
  created: number;
}

/** The progress of a key to the chain. */
export interface KeyProgress {
  /** For a pending key: the end of its hold period, and the earliest time of publication. Until then it can be withdrawn. Null while the partner must decide, because another key was offered for the user. */
  hold_ends_at?: number | null | undefined;
  /** The root of the Merkle tree that contains the key, and the name of its file. */
  root?: string | undefined;
  /** The hash of the transaction that published the root. */
  transaction?: string | undefined;
}

/** A new shadow user, or the one that an earlier call created. */
export interface CreatedUser extends ShadowUser {
  status: 201;
}

/** A shadow user with the time of its deactivation. */
export interface PartnerUser extends ShadowUser {
  /** When the user was deactivated; null if it is active. */
  deactivated: number | null;
}

/** A user whose tokens are rejected. */
export interface DeactivatedUser {
  /** The user's id: the same 160 bits as 32 characters of zBase32. */
  user_id: UserID;
  /** Milliseconds since 1970-01-01, UTC. */
  deactivated: number;
}

/** A user whose data was deleted. */
export interface ErasedUser {
  /** The user's id: the same 160 bits as 32 characters of zBase32. */
  user_id: UserID;
  /** Milliseconds since 1970-01-01, UTC. */
  erased: number;
  /** `remains` if the public key cannot be deleted, because it is on the chain or is being published. */
  key: "deleted" | "remains";
}

/** A conflicting key. */
export interface ConflictingKey {
  /** The public key in base64: 105 bytes, an uncompressed point of Curve41417. */
  public_key: string;
  /** The first 16 bytes of SHA-256 over the public key, in base64. */
  key_id: string;
  /** When the key was offered or withdrawn. */
  at: number;
  /** true: the key was registered and withdrawn. false: the key was rejected. */
  withdrawn: boolean;
}

/** A user's own record. It has a key unless its state is `unregistered`. */
export interface UserRecord extends ShadowUser, KeyProgress {
  /** The public key in base64: 105 bytes, an uncompressed point of Curve41417. */
  public_key?: string | undefined;
  /** The first 16 bytes of SHA-256 over the public key, in base64. */
  key_id?: string | undefined;
  /** Whether the user proved possession of the private key at registration. */
  possession?: "proven" | "unproven" | undefined;
  state: "unregistered" | "pending" | "submitted" | "published";
  /** At most 10 other keys that were offered for this user and that the partner has not decided about. */
  conflicting_keys: ConflictingKey[];
}

/** A user's public key as the service states it, unverified. */
export interface UserPublicKey extends KeyProgress {
  /** The user's id: the same 160 bits as 32 characters of zBase32. */
  user_id: UserID;
  /** The public key in base64: 105 bytes, an uncompressed point of Curve41417. */
  public_key: string;
  /** The first 16 bytes of SHA-256 over the public key, in base64. */
  key_id: string;
  /** Whether the user proved possession of the private key at registration. */
  possession: "proven" | "unproven";
  state: "pending" | "submitted" | "published";
}

/** A change of a user's key before its publication. */
export interface KeyEvent {
  type: "registered" | "conflict" | "withdrawn" | "discarded" | "approved";
  /** The first 16 bytes of SHA-256 over the public key, in base64. */
  key_id: string;
  /** Milliseconds since 1970-01-01, UTC. */
  at: number;
  /** For `registered`: whether an earlier key was withdrawn or discarded. */
  after_withdrawal: boolean;
}

/** A user's key for the partner, unverified. It exists unless the state is `unregistered`. */
export interface KeyOfUser extends KeyProgress {
  /** The user's id: the same 160 bits as 32 characters of zBase32. */
  user_id: UserID;
  /** The public key in base64: 105 bytes, an uncompressed point of Curve41417. */
  public_key?: string | undefined;
  /** The first 16 bytes of SHA-256 over the public key, in base64. */
  key_id?: string | undefined;
  /** Whether the user proved possession of the private key at registration. */
  possession?: "proven" | "unproven" | undefined;
  state: "unregistered" | "pending" | "submitted" | "published";
  /** At most 10 other keys that were offered for this user and that the partner has not decided about. */
  conflicting_keys: ConflictingKey[];
  /** The history of the user's keys: at most 100 events, newest first. */
  events: KeyEvent[];
}

/** A user refresh token without its value. */
export interface RefreshToken {
  /** The id of a refresh token. It is not a secret. */
  token_id: string;
  /** The device or purpose of a user's refresh token, at most 200 characters. */
  context: string;
  /** Milliseconds since 1970-01-01, UTC. */
  created: number;
  /** When the token was revoked; null while it is active. */
  revoked: number | null;
  /** The start of the hour in which the token was last used, with a delay of some seconds. Null before the first use. */
  last_used: number | null;
}

/** A server token without its value. */
export interface ServerToken {
  /** The id of a refresh token. It is not a secret. */
  token_id: string;
  name: string | null;
  /** Milliseconds since 1970-01-01, UTC. */
  created: number;
  /** When the token was revoked; null while it is active. */
  revoked: number | null;
  /** The start of the hour in which the token was last used, with a delay of some seconds. Null before the first use. */
  last_used: number | null;
}

/** A revoked server token and its partner. */
export interface RevokedServerToken extends ServerToken {
  /** The business identifier of the partner. */
  biz_id: string;
}

/** A new server token. */
export interface CreatedServerToken {
  /** The id of a refresh token. It is not a secret. */
  token_id: string;
  /** The server token. It is shown only once. */
  token: string;
  name: string | null;
  /** Milliseconds since 1970-01-01, UTC. */
  created: number;
}

/** A change of the partner or one of its users. */
export interface PartnerEvent {
  /** The kind of change. */
  type: string;
  /** Milliseconds since 1970-01-01, UTC. */
  at: number;
  /** The id of the event. An event that is listed again has the same id. */
  id: string;
  /** Ids and values of the change, such as `user_id` and `key_id`. */
  data: Record<string, string | number | boolean | null>;
}

/** The events after a cursor, the oldest first. */
export interface EventPage {
  events: PartnerEvent[];
  /** Send it as `after` to get the events after these. */
  cursor: string;
}

/** An endpoint that receives events. */
export interface WebhookEndpoint {
  /** The id of a webhook endpoint. */
  endpoint_id: string;
  url: string;
  /** The event types that the endpoint receives. An empty list means all types. */
  types: string[];
  /** Milliseconds since 1970-01-01, UTC. */
  created: number;
  /** The start of the pause; null while the endpoint is active. */
  paused: number | null;
}

/** A new endpoint with its secret. */
export interface NewWebhookEndpoint extends WebhookEndpoint {
  /** The secret that verifies deliveries: whsec_ and 32 bytes in base64. It is shown only once. */
  secret: string;
}

/** The new secret of an endpoint. */
export interface RotatedSecret {
  /** The id of a webhook endpoint. */
  endpoint_id: string;
  /** The secret that verifies deliveries: whsec_ and 32 bytes in base64. It is shown only once. */
  secret: string;
  /** The time until which the earlier secrets also sign deliveries. */
  previous_until: number | null;
}

/** An endpoint's response to a test. */
export interface WebhookTest {
  /** The id of an event: the same in every delivery of the event. */
  event_id: string;
  /** Whether the endpoint returned a 2xx status. */
  delivered: boolean;
  /** The HTTP status of the last response; null without one. */
  status: number | null;
  /** The reason for the last failure; null without one. */
  error: string | null;
  /** The time until the response, in milliseconds. */
  duration: number;
}

/** A delivery of an event. */
export interface WebhookDelivery {
  /** The id of an event: the same in every delivery of the event. */
  event_id: string;
  type: string;
  /** `failed` deliveries are sent again only on request. */
  state: "pending" | "delivered" | "failed";
  /** The number of attempts so far. */
  attempts: number;
  /** Milliseconds since 1970-01-01, UTC. */
  created: number;
  /** The end of the last attempt; null before the first one. */
  last_attempt: number | null;
  /** The time of a pending delivery's next attempt. */
  next_attempt: number | null;
  /** The HTTP status of the last response; null without one. */
  status: number | null;
  /** The reason for the last failure; null without one. */
  error: string | null;
}

/** An entry of the audit log. */
export interface AuditEntry {
  /** The id of the entry. */
  id: string;
  /** Milliseconds since 1970-01-01, UTC. */
  at: number;
  /** The change. */
  action: string;
  actor: {
    /** The author's kind: service, operator, person, partner, user. */
    kind: string;
    /** The id of the server's refresh token, the user or the person; null if there is none. */
    id: string | null;
    /** The name of a person; null if there is none. */
    name: string | null;
    /** The id of the refresh token behind the access token; null if there is none. */
    token_id: string | null;
  };
  /** The partner of the change; null if there is none. */
  biz_id: string | null;
  /** The user that was changed; null if there is none. */
  user_id: string | null;
  /** Additional ids and values of the change, without secrets. */
  data: Record<string, string | number | boolean | null>;
  /** The id of the request, which the service's log contains; null if there is none. */
  request_id: string | null;
  /** The IP address of the caller; null if there is none. */
  address: string | null;
}

/** A new partner. */
export interface CreatedPartner {
  /** The business identifier of the partner. */
  biz_id: string;
  /** A human-friendly name, at most 200 characters. */
  name: string;
  /** Milliseconds since 1970-01-01, UTC. */
  created: number;
}

/** A partner with its numbers. */
export interface PartnerSummary extends CreatedPartner {
  /** When the partner was suspended; null if it is not. */
  suspended: number | null;
  /** The maximum number of the partner's users; null for no limit. */
  user_limit: number | null;
  /** The number of its users. */
  users: number;
  /** The number of registered public keys that are not on the chain. */
  pending_keys: number;
  /** The number of public keys on the chain. */
  published_keys: number;
  /** The number of active refresh tokens of its servers. */
  server_tokens: number;
}

/** A published batch. */
export interface PublishedBatch {
  /** The root of the Merkle tree that contains the key, and the name of its file. */
  root: string;
  /** The number of users who now have this root. */
  users: number;
  /** The hash of the transaction that published the root. */
  transaction: string;
  /** The number of the transaction's block. */
  block: number;
}

/** An invitation to the dashboard. */
export interface StaffInvitation {
  /** The id of the person. */
  person_id: string;
  /** A human-friendly name, at most 200 characters. */
  name: string;
  /** The person's permissions in the dashboard: everything, or only reading. */
  role: "administrator" | "reader";
  /** The link for the person. It works once, and is shown only once. */
  url: string;
  /** When the link expires, in milliseconds since 1970-01-01, UTC. */
  expires: number;
}

/** The body and the answer of each operation, by its path. */
interface Operations {
  "/v1/public/auth/jwt": { body: { biz_id: string; token: string }; answer: { jwt: string } };
  "/v1/authdBizSrv/users/createRefreshToken": {
    body: { user_id_hex: string; context: string };
    answer: { token: string };
  };
  "/v1/authdBizSrv/users/listRefreshTokens": {
    body: {
      user_id?: UserID | undefined;
      user_id_hex?: string | undefined;
      since?: number | undefined;
      limit?: number | undefined;
      after?: string | undefined;
    };
    answer: { tokens: RefreshToken[]; next: string | null };
  };
  "/v1/authdBizSrv/users/revokeRefreshToken": {
    body: { user_id?: UserID | undefined; user_id_hex?: string | undefined; token_id: string };
    answer: RefreshToken;
  };
  "/v1/authdBizSrv/serverTokens/list": {
    body: { since?: number | undefined; limit?: number | undefined; after?: string | undefined };
    answer: { tokens: ServerToken[]; next: string | null };
  };
  "/v1/authdBizSrv/serverTokens/revoke": { body: { token_id: string }; answer: ServerToken };
  "/v1/authdBizSrv/users/create": { body: { user_id_hex: string; region: Region }; answer: CreatedUser };
  "/v1/authdBizSrv/users/createMany": {
    body: {
      users: {
        user_id?: UserID | undefined;
        user_id_hex?: string | undefined;
        region: Region;
        context?: string | undefined;
      }[];
    };
    answer: {
      users: ((CreatedUser & { token?: string | undefined }) | { status: number; code: string; detail: string })[];
    };
  };
  "/v1/authdBizSrv/users/get": {
    body: { user_id?: UserID | undefined; user_id_hex?: string | undefined };
    answer: PartnerUser;
  };
  "/v1/authdBizSrv/users/list": {
    body: { limit?: number | undefined; after?: UserID | undefined };
    answer: { users: PartnerUser[]; next: UserID | null };
  };
  "/v1/authdBizSrv/users/deactivate": {
    body: { user_id?: UserID | undefined; user_id_hex?: string | undefined };
    answer: DeactivatedUser;
  };
  "/v1/authdBizSrv/users/erase": {
    body: { user_id?: UserID | undefined; user_id_hex?: string | undefined };
    answer: ErasedUser;
  };
  "/v1/authdUser/publicKey/challenge": {
    body: { public_key: string; key_id: string };
    answer: {
      user_id: UserID;
      state: "unregistered" | "pending" | "submitted" | "published";
      challenge?: string | undefined;
      ephemeral_key?: string | undefined;
      expires?: number | undefined;
      service?: string | undefined;
      chain_id?: number | null | undefined;
      contract?: string | null | undefined;
    };
  };
  "/v1/authdUser/publicKey/register": {
    body: { public_key: string; key_id: string; challenge?: string | undefined; response?: string | undefined };
    answer: UserPublicKey & ShadowUser & { conflicting_keys: ConflictingKey[] };
  };
  "/v1/authdUser/publicKey/withdraw": {
    body: { key_id: string };
    answer: { user_id: UserID; key_id: string; state: "unregistered" };
  };
  "/v1/authdUser/record/get": { body: Record<string, never>; answer: UserRecord };
  "/v1/authdUser/publicKey/get": { body: { user_id: UserID }; answer: UserPublicKey };
  "/v1/authdBizSrv/publicKeys/get": {
    body: { user_id?: UserID | undefined; user_id_hex?: string | undefined };
    answer: KeyOfUser;
  };
  "/v1/authdBizSrv/publicKeys/discard": {
    body: { user_id?: UserID | undefined; user_id_hex?: string | undefined; key_id: string };
    answer: { user_id: UserID; key_id: string; state: "unregistered" };
  };
  "/v1/authdBizSrv/publicKeys/approve": {
    body: { user_id?: UserID | undefined; user_id_hex?: string | undefined; key_id: string };
    answer: UserPublicKey;
  };
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
  "/v1/authdBizSrv/audit/list": {
    body: {
      action?: string | undefined;
      actor_kind?: "service" | "operator" | "person" | "partner" | "user" | undefined;
      actor_id?: string | undefined;
      user_id?: UserID | undefined;
      user_id_hex?: string | undefined;
      since?: number | undefined;
      until?: number | undefined;
      limit?: number | undefined;
      after?: string | undefined;
    };
    answer: { entries: AuditEntry[]; next: string | null };
  };
  "/v1/admin/serverTokens/create": { body: { biz_id: string; name?: string | undefined }; answer: CreatedServerToken };
  "/v1/admin/serverTokens/list": {
    body: { biz_id: string; since?: number | undefined; limit?: number | undefined; after?: string | undefined };
    answer: { tokens: ServerToken[]; next: string | null };
  };
  "/v1/admin/serverTokens/revoke": { body: { token_id: string }; answer: RevokedServerToken };
  "/v1/admin/publicKeys/discard": {
    body: { biz_id: string; user_id?: UserID | undefined; user_id_hex?: string | undefined; key_id: string };
    answer: { user_id: UserID; key_id: string; state: "unregistered" };
  };
  "/v1/admin/audit/list": {
    body: {
      biz_id?: string | undefined;
      action?: string | undefined;
      actor_kind?: "service" | "operator" | "person" | "partner" | "user" | undefined;
      actor_id?: string | undefined;
      user_id?: UserID | undefined;
      user_id_hex?: string | undefined;
      since?: number | undefined;
      until?: number | undefined;
      limit?: number | undefined;
      after?: string | undefined;
    };
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

/** The answer of an operation. */
export type AnswerOf<Path extends OperationPath> = Operations[Path]["answer"];
