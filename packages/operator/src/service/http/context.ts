import type { PublishedBatch } from "../publishing/keyPublisher.ts";
import type { Databases } from "../store/database.ts";
import { PasskeyStore } from "../store/passkeys.ts";
import { PartnerStore } from "../store/partners.ts";
import { PublicKeyStore } from "../store/publicKeys.ts";
import { RefreshTokenStore } from "../store/refreshTokens.ts";
import { SessionStore } from "../store/sessions.ts";
import { StaffStore } from "../store/staff.ts";
import { UserStore } from "../store/users.ts";
import { AccessTokens } from "../tokens/accessTokens.ts";
import type { SigningKeys } from "../tokens/signingKeys.ts";
import { Authenticator } from "./authenticator.ts";
import { type RateLimitOptions, RateLimits } from "./rateLimit.ts";

export interface ContextOptions {
  databases: Databases;
  signingKeys: SigningKeys;
  /** The URL at which callers reach the service: the issuer of access tokens. */
  issuer: string;
  /** The URL at which callers reach the service. Default: http://localhost and the port that it listens on. */
  baseUrl?: string | undefined;
  stage: string;
  bucketPrefix: string;
  rateLimits: RateLimitOptions;
  /** Undefined disables admin operations. */
  adminToken: string | undefined;
  /** Publishes all unpublished keys; undefined without a configured chain. */
  publish?: (() => Promise<PublishedBatch[]>) | undefined;
  /** Returns milliseconds since 1970. Default `Date.now`. */
  now?: () => number;
}

/** Everything that the operations of the API use. */
export interface ServiceContext extends Required<Pick<ContextOptions, "databases" | "signingKeys" | "stage" | "now">> {
  publish: ContextOptions["publish"];
  baseUrl: ContextOptions["baseUrl"];
  partners: PartnerStore;
  staff: StaffStore;
  passkeys: PasskeyStore;
  sessions: SessionStore;
  users: UserStore;
  refreshTokens: RefreshTokenStore;
  publicKeys: PublicKeyStore;
  accessTokens: AccessTokens;
  authenticator: Authenticator;
  rateLimits: RateLimits;
}

/** Creates the stores and the authentication over these databases. It sends no query. */
export function makeContext(options: ContextOptions): ServiceContext {
  const { databases, signingKeys, issuer, stage, bucketPrefix, rateLimits, adminToken, publish, baseUrl } = options;
  const { now = Date.now } = options;
  const refreshTokens = new RefreshTokenStore(databases);
  const accessTokens = new AccessTokens(signingKeys, issuer);
  return {
    databases,
    signingKeys,
    stage,
    now,
    publish,
    baseUrl,
    partners: new PartnerStore(databases.home),
    staff: new StaffStore(databases.home),
    passkeys: new PasskeyStore(databases.home),
    sessions: new SessionStore(databases.home),
    users: new UserStore(databases, { bucketPrefix, stage }),
    refreshTokens,
    publicKeys: new PublicKeyStore(databases),
    accessTokens,
    authenticator: new Authenticator(accessTokens, refreshTokens, adminToken),
    rateLimits: new RateLimits(databases.home, rateLimits),
  };
}
