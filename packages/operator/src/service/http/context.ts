import type { PublishedBatch } from "../publishing/keyPublisher.ts";
import type { PublishingStatus } from "../publishing/publishingStatus.ts";
import { PublishRuns } from "../publishing/publishRuns.ts";
import { KeyRegistration, type PossessionPolicy, type RegistryID } from "../registration/keyRegistration.ts";
import { AuditLog } from "../store/auditLog.ts";
import { BatchStore } from "../store/batches.ts";
import { BulkCreation } from "../store/bulkCreation.ts";
import type { Author } from "../store/changes.ts";
import { ChallengeStore } from "../store/challenges.ts";
import type { Databases } from "../store/database.ts";
import { EventStore } from "../store/events.ts";
import { PasskeyStore } from "../store/passkeys.ts";
import { KeyObjections } from "../store/keyObjections.ts";
import { PartnerStore } from "../store/partners.ts";
import { PublicKeyStore } from "../store/publicKeys.ts";
import { RefreshTokenStore } from "../store/refreshTokens.ts";
import { SessionStore } from "../store/sessions.ts";
import { StaffStore } from "../store/staff.ts";
import { UserStore } from "../store/users.ts";
import { WebhookDeliveryStore } from "../store/webhookDeliveries.ts";
import { WebhookEndpointStore } from "../store/webhookEndpoints.ts";
import { AccessTokens } from "../tokens/accessTokens.ts";
import type { SigningKeys } from "../tokens/signingKeys.ts";
import type { WebhookKeys } from "../tokens/webhookKeys.ts";
import { WebhookSender, type WebhookSenderOptions } from "../webhooks/sendWebhook.ts";
import { Authenticator } from "./authenticator.ts";
import { type RateLimitOptions, RateLimits } from "./rateLimit.ts";

const DEFAULT_HOLD_MS = 24 * 60 * 60 * 1000;
const DEFAULT_EVENT_DAYS = 30;

export interface ContextOptions {
  databases: Databases;
  signingKeys: SigningKeys;
  /** The URL at which callers reach the service: the issuer of access tokens. */
  issuer: string;
  /** The URL at which callers reach the service, without a trailing slash. Default: where it listens. */
  baseUrl?: string | undefined;
  /** The URL of an explorer, to which the dashboard links. Default none. */
  explorerUrl?: string | undefined;
  /** Where the service publishes keys; undefined if it publishes none. */
  registry?: RegistryID | undefined;
  /** Whether registration requires proof of possession. Default `required`. */
  possession?: PossessionPolicy | undefined;
  /** How long a registered key waits before it is published, in ms. Default 24 hours. */
  holdMs?: number | undefined;
  /** Whether a key waits for its partner's decision if another key was offered for the user. Default false. */
  holdOnConflict?: boolean | undefined;
  stage: string;
  bucketPrefix: string;
  rateLimits: RateLimitOptions;
  /** Undefined disables admin operations. */
  adminToken: string | undefined;
  /** The keys under which webhook secrets are stored; undefined disables webhooks. */
  webhookKeys?: WebhookKeys | undefined;
  /** How events are sent. Default: to public https endpoints only. */
  webhooks?: WebhookSenderOptions | undefined;
  /** How long events are kept, in days. Default 30. */
  eventDays?: number | undefined;
  /** Publishes all unpublished keys; undefined without a configured chain. */
  publish?: ((author: Author) => Promise<PublishedBatch[]>) | undefined;
  /** Checks the chain, the stores and the publisher; undefined without a configured chain. */
  publishing?: (() => Promise<PublishingStatus>) | undefined;
  /** Returns milliseconds since 1970. Default `Date.now`. */
  now?: () => number;
}

/** Everything that the operations of the API use. */
export interface ServiceContext extends Required<Pick<ContextOptions, "databases" | "signingKeys" | "stage" | "now">> {
  publish: ContextOptions["publish"];
  publishing: ContextOptions["publishing"];
  /** Calls `publish` in the background; undefined without it. */
  publishRuns: PublishRuns | undefined;
  baseUrl: ContextOptions["baseUrl"];
  explorerUrl: ContextOptions["explorerUrl"];
  partners: PartnerStore;
  staff: StaffStore;
  passkeys: PasskeyStore;
  sessions: SessionStore;
  users: UserStore;
  bulkCreation: BulkCreation;
  refreshTokens: RefreshTokenStore;
  publicKeys: PublicKeyStore;
  batches: BatchStore;
  challenges: ChallengeStore;
  registration: KeyRegistration;
  objections: KeyObjections;
  events: EventStore;
  auditLog: AuditLog;
  accessTokens: AccessTokens;
  authenticator: Authenticator;
  rateLimits: RateLimits;
  webhookEndpoints: WebhookEndpointStore;
  webhookDeliveries: WebhookDeliveryStore;
  webhookSender: WebhookSender;
  /** Whether events may be sent over plain http and to addresses that are not public. */
  allowPrivateWebhooks: boolean;
}

/** Creates the stores and the authentication over these databases. It sends no query. */
export function makeContext(options: ContextOptions): ServiceContext {
  const { databases, signingKeys, issuer, stage, bucketPrefix, rateLimits, adminToken, publish, baseUrl } = options;
  const { explorerUrl, publishing, registry, possession: policy = "required", now = Date.now } = options;
  const { holdMs = DEFAULT_HOLD_MS, holdOnConflict = false, webhookKeys, webhooks } = options;
  const { eventDays = DEFAULT_EVENT_DAYS } = options;
  const publicKeys = new PublicKeyStore(databases, holdOnConflict);
  const challenges = new ChallengeStore(databases);
  const objections = new KeyObjections(databases);
  const refreshTokens = new RefreshTokenStore(databases);
  const accessTokens = new AccessTokens(signingKeys, issuer);
  const webhookEndpoints = new WebhookEndpointStore(databases.home, webhookKeys);
  return {
    databases,
    signingKeys,
    stage,
    now,
    publish,
    publishing,
    publishRuns: publish && new PublishRuns(publish, now),
    baseUrl,
    explorerUrl,
    partners: new PartnerStore(databases),
    staff: new StaffStore(databases.home),
    passkeys: new PasskeyStore(databases.home),
    sessions: new SessionStore(databases.home),
    users: new UserStore(databases, { bucketPrefix, stage }),
    bulkCreation: new BulkCreation(databases, { bucketPrefix, stage }),
    refreshTokens,
    publicKeys,
    batches: new BatchStore(databases, holdOnConflict),
    challenges,
    objections,
    events: new EventStore(databases, eventDays),
    auditLog: new AuditLog(databases),
    registration: new KeyRegistration({
      ...{ databases, publicKeys, challenges, objections, policy, registry, holdMs, now },
    }),
    accessTokens,
    authenticator: new Authenticator(accessTokens, refreshTokens, adminToken),
    rateLimits: new RateLimits(databases.home, rateLimits),
    webhookEndpoints,
    webhookDeliveries: new WebhookDeliveryStore(databases, webhookEndpoints),
    webhookSender: new WebhookSender(webhooks),
    allowPrivateWebhooks: webhooks?.allowPrivate ?? false,
  };
}
