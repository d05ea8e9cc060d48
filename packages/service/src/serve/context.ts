import type { PublishedBatch } from "../publisher/keyPublisher.ts";
import type { PublishingStatus } from "../publisher/publishingStatus.ts";
import { PublishRuns } from "../publishing/publishRuns.ts";
import { recent } from "../api/base/recent.ts";
import { KeyRegistration } from "../keys/keyRegistration.ts";
import type { PossessionPolicy, RegistryID } from "../keys/possessionCheck.ts";
import { AuditLog } from "../auditLog/readAuditLog.ts";
import { BatchStore } from "../publishing/batches.ts";
import { BulkCreation } from "../tokens/bulkCreation.ts";
import type { Author } from "../auditLog/recordChange.ts";
import { ChallengeStore } from "../keys/challengeStore.ts";
import type { Databases } from "../api/database/database.ts";
import { EventStore } from "../webhooks/events.ts";
import { PasskeyStore } from "../staff/passkeys.ts";
import { ConflictingKeys } from "../keys/conflictingKeys.ts";
import { PartnerStore } from "../partners/partners.ts";
import { PublicKeyStore } from "../keys/publicKeys.ts";
import { UsersWithKeys } from "../keys/usersWithKeys.ts";
import { RefreshTokenStore } from "../tokens/refreshTokens.ts";
import { InvitationStore } from "../staff/invitations.ts";
import { SessionStore } from "../staff/sessions.ts";
import { StaffStore } from "../staff/staff.ts";
import { UserCreation } from "../users/createUser.ts";
import { UserStore } from "../users/users.ts";
import { WebhookDeliveryStore } from "../webhooks/webhookDeliveries.ts";
import { WebhookEndpointStore } from "../webhooks/webhookEndpoints.ts";
import { AccessTokens } from "../tokens/accessTokens.ts";
import type { SigningKeys } from "../tokens/signingKeys.ts";
import type { WebhookKeys } from "../webhooks/webhookKeys.ts";
import { WebhookSender, type WebhookSenderOptions } from "../webhooks/sendWebhook.ts";
import { Authenticator } from "../tokens/authenticator.ts";
import { type RateLimitOptions, RateLimits } from "../api/limits/rateLimits.ts";

const DEFAULT_EVENT_DAYS = 30;

export interface ContextOptions {
  databases: Databases;
  signingKeys: SigningKeys;
  /** The issuer of access tokens: the URL at which callers reach the service. */
  issuer: string;
  /** The URL at which callers reach the service, without a trailing slash. Default: the service's local address. */
  serviceUrl?: string | undefined;
  /** The URL of an explorer to which the dashboard links. Default: none. */
  explorerUrl?: string | undefined;
  /** The URL of a block explorer, for the dashboard's links to transactions. Default: none. */
  blockExplorerUrl?: string | undefined;
  /** The registry in which the service publishes keys. Undefined if the service does not publish keys. */
  registry?: RegistryID | undefined;
  /** Whether registration requires proof of possession. Default: `required`. */
  possession?: PossessionPolicy | undefined;
  holdPeriodMs: number;
  /** Whether a key waits for the partner's decision after another key was offered for the same user. Default: false. */
  holdOnConflict?: boolean | undefined;
  stage: string;
  bucketPrefix: string;
  rateLimits: RateLimitOptions;
  /** The admin token. Undefined disables admin operations. */
  adminToken: string | undefined;
  /** The keys that encrypt stored webhook secrets. Undefined disables webhooks. */
  webhookKeys?: WebhookKeys | undefined;
  /** Options for sending events. By default, events are sent only to public https endpoints. */
  webhooks?: WebhookSenderOptions | undefined;
  /** Number of days for which events are kept. Default: 30. */
  eventDays?: number | undefined;
  /** Publishes all unpublished keys. Undefined if no chain is configured. */
  publish?: ((author: Author) => Promise<PublishedBatch[]>) | undefined;
  /** Checks the chain, the stores and the publisher. Undefined if no chain is configured. */
  publishing?: (() => Promise<PublishingStatus>) | undefined;
  /** Returns the current time in milliseconds since 1970. Default: `Date.now`. */
  now?: () => number;
}

/** Everything that the API operations use. */
export type ServiceContext = ReturnType<typeof makeContext>;

/** Creates the stores and the authentication for these databases. Sends no query. */
export function makeContext(options: ContextOptions) {
  const { databases, signingKeys, issuer, stage, bucketPrefix, rateLimits, adminToken, publish, publishing } = options;
  const { serviceUrl, explorerUrl, blockExplorerUrl, registry, possession: policy = "required" } = options;
  const { holdPeriodMs, holdOnConflict = false, webhookKeys, webhooks } = options;
  const { eventDays = DEFAULT_EVENT_DAYS, now = Date.now } = options;
  const publicKeys = new PublicKeyStore(databases, holdOnConflict);
  const challenges = new ChallengeStore(databases);
  const conflictingKeys = new ConflictingKeys(databases);
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
    /** Returns the result of `publishing` for partners, cached for at most 30 seconds. */
    recentPublishing: publishing && recent(publishing, now),
    /** Runs `publish` in the background. Undefined if `publish` is undefined. */
    publishRuns: publish && new PublishRuns(publish, now),
    serviceUrl,
    explorerUrl,
    blockExplorerUrl,
    partners: new PartnerStore(databases, holdPeriodMs),
    staff: new StaffStore(databases.home),
    passkeys: new PasskeyStore(databases.home),
    invitations: new InvitationStore(databases.home),
    sessions: new SessionStore(databases.home),
    users: new UserStore(databases),
    userCreation: new UserCreation(databases, { bucketPrefix, stage }),
    bulkCreation: new BulkCreation(databases, { bucketPrefix, stage }),
    refreshTokens,
    publicKeys,
    usersWithKeys: new UsersWithKeys(databases, holdOnConflict),
    batches: new BatchStore(databases, holdOnConflict),
    challenges,
    conflictingKeys,
    events: new EventStore(databases, eventDays),
    auditLog: new AuditLog(databases),
    registration: new KeyRegistration({
      ...{ databases, publicKeys, challenges, conflictingKeys, policy, registry, holdPeriodMs, now },
    }),
    accessTokens,
    authenticator: new Authenticator(accessTokens, refreshTokens, adminToken),
    rateLimits: new RateLimits(databases.home, rateLimits),
    webhookEndpoints,
    webhookDeliveries: new WebhookDeliveryStore(databases, webhookEndpoints),
    webhookSender: new WebhookSender(webhooks),
    /** Whether the service may send events over plain http and to private addresses. */
    allowPrivateWebhooks: webhooks?.allowPrivate ?? false,
  };
}
