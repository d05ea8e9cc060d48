import type { CallOptions, ClientOptions } from "../shared/options.ts";
import type { PageOptions } from "../shared/pages.ts";

/** The options of `PartnerClient`. */
export interface PartnerClientOptions extends ClientOptions {
  /**
   * The partner's server token (docs/specification.md, "Server refresh token"). It never expires, so keep it only on
   * servers.
   */
  serverToken: string;
}

/** The options of `PartnerClient.listRefreshTokens` and `listServerTokens`. */
export interface ListTokensOptions extends PageOptions {
  /** The `token_id` of a token. The list begins after this token. Default: the list begins with the first token. */
  after?: string | undefined;
}

/** The options of `PartnerClient.listUsers`. */
export interface ListOptions extends PageOptions {
  /**
   * The list begins with the user after this one. The user id has 32 characters of zBase32, or 40 hex digits. Default:
   * the list begins with the first user.
   */
  after?: string | undefined;
}

/** The options of `PartnerClient.listEvents`. */
export interface ListEventsOptions extends CallOptions {
  /** The `cursor` of an earlier page. Default: the list begins with the oldest stored event. */
  after?: string | undefined;
  /** Maximum number of events, from 1 to 1,000. Default: 100. */
  limit?: number | undefined;
}
