import type { AuditContext } from "../auditLog/operations.ts";
import type { AccountContext } from "../accounts/operations.ts";
import { AccountStore } from "../accounts/accountStore.ts";
import type { KeyContext } from "../keys/operations.ts";
import type { UsersWithKeysContext } from "../keys/userOperations.ts";
import type { PartnerContext } from "../partners/operations.ts";
import type { PublishingContext } from "../publishing/operations.ts";
import type { StaffContext } from "../staff/operations.ts";
import type { SignInContext } from "../staff/signInOperations.ts";
import type { TokenContext } from "../tokens/operations.ts";
import type { UserContext } from "../users/operations.ts";
import type { WebhookContext } from "../webhooks/operations.ts";
import { PublisherState } from "../publishing/publisherState.ts";
import { PublishRequests } from "../publishing/publishRequests.ts";
import { KeyRegistration } from "../keys/keyRegistration.ts";
import { AuditLog } from "../auditLog/readAuditLog.ts";
import { PartnerKeyStore } from "../publishing/partnerKeys.ts";
import { BatchStore } from "../publishing/batches.ts";
import { BulkCreation } from "../tokens/bulkCreation.ts";
import { curve41417, type KeyType } from "keyroot/internal/identity";
import type { Databases } from "../api/database/database.ts";
import { EventStore } from "../webhooks/events.ts";
import { PasskeyStore } from "../staff/passkeys.ts";
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
import type { ServiceConfig } from "../config/serviceConfig.ts";
import { WebhookSender, type WebhookSenderOptions } from "../webhooks/sendWebhook.ts";
import { Authenticator } from "../tokens/authenticator.ts";
import { type RateLimitOptions, RateLimits } from "../api/limits/rateLimits.ts";

type Configured =
  "serviceUrl" | "explorerUrl" | "blockExplorerUrl" | "registry" | "accounts" | "holdOnConflict" | "adminToken";

export interface ContextOptions extends Pick<ServiceConfig, Configured> {
  databases: Databases;
  signingKeys: SigningKeys;
  /** The issuer of access tokens: the URL at which callers reach the service. */
  issuer: string;
  /** The type of the registry's keys. Default: `curve41417`. */
  keyType?: KeyType | undefined;
  holdPeriodMs: number;
  stage: string;
  rateLimits: RateLimitOptions;
  /** The keys that encrypt stored webhook secrets. Undefined disables webhooks. */
  webhookKeys?: WebhookKeys | undefined;
  /** Options for sending events. By default, events are sent only to public https endpoints. */
  webhooks?: WebhookSenderOptions | undefined;
  /** Returns the current time. Default: `Date.now`. */
  now?: () => number;
}

type OperationsContext = AccountContext &
  AuditContext &
  KeyContext &
  PartnerContext &
  PublishingContext &
  SignInContext &
  StaffContext &
  TokenContext &
  UserContext &
  UsersWithKeysContext &
  WebhookContext;

export type ServiceContext = ReturnType<typeof makeContext>;

/** Creates the stores and the authentication for these databases. Sends no query. */
export function makeContext(options: ContextOptions) {
  const { databases, signingKeys, issuer, stage, rateLimits, adminToken } = options;
  const { serviceUrl, explorerUrl, blockExplorerUrl, registry } = options;
  const { keyType = curve41417, holdPeriodMs, holdOnConflict = false, webhookKeys, webhooks } = options;
  const { now = Date.now } = options;
  const publicKeys = new PublicKeyStore(databases, holdOnConflict);
  const accounts = options.accounts && registry ? new AccountStore(databases, publicKeys, registry) : undefined;
  const refreshTokens = new RefreshTokenStore(databases);
  const accessTokens = new AccessTokens(signingKeys, issuer);
  const webhookEndpoints = new WebhookEndpointStore(databases.home, webhookKeys);
  return {
    databases,
    signingKeys,
    stage,
    now,
    publishRequests: new PublishRequests(databases.home),
    /** The state of the publisher, which is another process. Undefined if the service does not publish keys. */
    publisher: registry && new PublisherState(databases, registry, holdOnConflict),
    registry,
    serviceUrl,
    explorerUrl,
    blockExplorerUrl,
    partners: new PartnerStore(databases, new PartnerKeyStore(databases, holdPeriodMs)),
    staff: new StaffStore(databases.home),
    passkeys: new PasskeyStore(databases.home),
    invitations: new InvitationStore(databases.home),
    sessions: new SessionStore(databases.home),
    users: new UserStore(databases),
    userCreation: new UserCreation(databases, stage),
    bulkCreation: new BulkCreation(databases, stage),
    refreshTokens,
    keyType,
    publicKeys,
    holdPeriodMs,
    accounts,
    usersWithKeys: new UsersWithKeys(databases, holdOnConflict),
    batches: new BatchStore(databases, holdOnConflict),
    events: new EventStore(databases),
    auditLog: new AuditLog(databases),
    registration: new KeyRegistration({
      ...{ databases, publicKeys, registry, keyType, holdPeriodMs, now },
      accounts: accounts !== undefined,
    }),
    accessTokens,
    authenticator: new Authenticator(accessTokens, refreshTokens, adminToken),
    rateLimits: new RateLimits(databases.home, rateLimits),
    webhookEndpoints,
    webhookDeliveries: new WebhookDeliveryStore(databases, webhookEndpoints),
    webhookSender: new WebhookSender(webhooks),
    /** Whether the service may send events over plain http and to private addresses. */
    allowPrivateWebhooks: webhooks?.allowPrivate ?? false,
  } satisfies OperationsContext & { signingKeys: SigningKeys };
}
