import { Authenticator } from "./authenticate.ts";
import type { PublishedBatch } from "./publishing/publishRegistered.ts";
import { type RateLimit, rateLimitOf } from "./rateLimit.ts";
import type { Databases } from "./store/database.ts";
import { PartnerStore } from "./store/partners.ts";
import { PublicKeyStore } from "./store/publicKeys.ts";
import { RefreshTokenStore } from "./store/refreshTokens.ts";
import { UserStore } from "./store/users.ts";
import { AccessTokens } from "./tokens/accessToken.ts";
import type { SigningKeys } from "./tokens/signingKeys.ts";

/** What a service is made of. */
export interface ServiceOptions {
  databases: Databases;
  signingKeys: SigningKeys;
  /** The service's address as its callers know it: the issuer of access tokens. */
  issuer: string;
  stage: string;
  bucketPrefix: string;
  /** Requests a minute of one caller; 0 for any number. */
  rateLimit: number;
  /** Undefined lets no operator in. */
  adminToken: string | undefined;
  /** Publishes what is pending now; undefined where no chain is configured. */
  publish?: (() => Promise<PublishedBatch[]>) | undefined;
  /** The time, in milliseconds since 1970. */
  now?: () => number;
}

/** All that the operations of the API work with. */
export interface Service extends Required<Pick<ServiceOptions, "databases" | "signingKeys" | "stage" | "now">> {
  publish: ServiceOptions["publish"];
  partners: PartnerStore;
  users: UserStore;
  refreshTokens: RefreshTokenStore;
  publicKeys: PublicKeyStore;
  accessTokens: AccessTokens;
  authenticator: Authenticator;
  rateLimit: RateLimit;
}

/** Puts a service together; nothing is asked yet. */
export function makeService(options: ServiceOptions): Service {
  const {
    databases,
    signingKeys,
    issuer,
    stage,
    bucketPrefix,
    rateLimit,
    adminToken,
    publish,
    now = Date.now,
  } = options;
  const refreshTokens = new RefreshTokenStore(databases);
  const accessTokens = new AccessTokens(signingKeys, issuer);
  return {
    databases,
    signingKeys,
    stage,
    now,
    publish,
    partners: new PartnerStore(databases.home),
    users: new UserStore(databases, { bucketPrefix, stage }),
    refreshTokens,
    publicKeys: new PublicKeyStore(databases),
    accessTokens,
    authenticator: new Authenticator(accessTokens, refreshTokens, adminToken),
    rateLimit: rateLimitOf(databases.home, rateLimit),
  };
}
