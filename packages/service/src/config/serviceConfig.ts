import { isIP } from "node:net";
import { z } from "zod";
import { isLoopback } from "keyroot/internal/transport";
import type { RateLimitOptions } from "../api/limits/rateLimits.ts";
import {
  checkConfig,
  flag,
  httpUrl,
  registryFields,
  type SharedConfig,
  sharedFields,
  text,
  wholeNumber,
} from "./fields.ts";
import { looksRandom } from "./looksRandom.ts";
import { SERVICE_VARIABLES } from "./variables.ts";

/**
 * The configuration of a service. All fields are optional. docs/variables.md describes the environment variable of each
 * field.
 */
export interface ServiceConfig extends SharedConfig {
  /** The IP address to listen on. Default: 127.0.0.1. */
  host?: string | undefined;
  /** The port to listen on. 0 means any free port. Default: 8547. */
  port?: number | undefined;
  /** The URL at which callers reach the service, and the issuer of access tokens. Required with `databaseUrl`. */
  serviceUrl?: string | undefined;
  /** The URL of an explorer to which the dashboard links. Default: none. */
  explorerUrl?: string | undefined;
  /** The URL of a block explorer, such as https://etherscan.io, for links to transactions. Default: none. */
  blockExplorerUrl?: string | undefined;
  /** The name of the deployment stage. Default: `dev`. */
  stage?: string | undefined;
  /** The file of signing keys. Required with `databaseUrl`. Default without `databaseUrl`: a new key at each start. */
  signingKeys?: string | undefined;
  /** The operator's token: at least 32 random characters. If unset, admin operations are disabled. */
  adminToken?: string | undefined;
  /** Port of /healthz, /readyz and /metrics. 0 means any free port, and null means no port. Default: 9547. */
  monitoringPort?: number | null | undefined;
  /**
   * Number of seconds for which a stopping service still accepts requests. Meanwhile, /readyz responds with 503, so
   * that load balancers choose another replica. Default: 0.
   */
  shutdownDelay?: number | undefined;
  /** Hold period: seconds between registration and publication. Default: 86,400. */
  holdPeriod?: number | undefined;
  /** Maximum requests per minute and caller. 0 means no limit. Default: 6000. */
  rateLimit?: number | undefined;
  /**
   * IP addresses and networks of proxies. The service ignores the `X-Forwarded-For` header of other senders. Default:
   * none.
   */
  trustedProxies?: string[] | undefined;
  /**
   * The file of keys that encrypt webhook secrets, with 32 bytes in base64 on each line. Without it, webhook endpoints
   * are disabled.
   */
  webhookKeys?: string | undefined;
  /** Whether webhooks may use plain http and private addresses, for local use. Default: false. */
  webhooksPrivate?: boolean | undefined;
  /** The registry in which keys are published. If unset, the service does not publish keys. */
  registry?: { contract: string; chainId: number } | undefined;
  /** Number of days for which audit log entries are kept. 0 keeps all entries. Default: 365. */
  auditDays?: number | undefined;
  /**
   * Number of days for which the audit log keeps callers' IP addresses, at most `auditDays`. 0 records none. Default:
   * 30.
   */
  addressDays?: number | undefined;
}

export type ResolvedConfig = z.output<typeof schema>;

const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_STAGE = "dev";
/**
 * Maximum length of the stage. The name of an S3 bucket has at most 63 characters. It contains `keyroot`, the stage,
 * the region and the user id, which three hyphens separate (`newUser.ts`).
 */
const MAX_STAGE = 63 - "keyroot".length - 3 - "us-west-2".length - 32;
/** Maximum rejected requests of unknown callers per minute and address. */
const REFUSED_PER_MINUTE = 100;

const schema = z.strictObject({
  ...sharedFields,
  host: text()
    .refine((host) => host === "localhost" || isIP(host) !== 0, "must be an IP address or localhost")
    .default(DEFAULT_HOST),
  port: wholeNumber(0, 65_535).default(8547),
  monitoringPort: wholeNumber(0, 65_535).nullable().default(9547),
  serviceUrl: httpUrl()
    .transform((serviceUrl) => serviceUrl.replace(/\/$/, ""))
    .optional(),
  explorerUrl: httpUrl()
    .refine((explorerUrl) => !explorerUrl.includes("#"), "must be a URL without a fragment")
    .optional(),
  blockExplorerUrl: httpUrl()
    .transform((blockExplorerUrl) => blockExplorerUrl.replace(/\/$/, ""))
    .optional(),
  stage: text()
    .regex(/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/, "must consist of lowercase letters, digits and inner hyphens")
    .default(DEFAULT_STAGE),
  signingKeys: text().optional(),
  // The characters that a bearer token may contain (RFC 6750, section 2.1).
  adminToken: text()
    .regex(/^[\w.~+/-]{32,}=*$/, "must be at least 32 letters, digits or characters of - . _ ~ + /")
    .refine(looksRandom, "is too easy to guess. Make one with 'openssl rand -hex 32'")
    .optional(),
  shutdownDelay: wholeNumber(0, 300).default(0),
  holdPeriod: wholeNumber(0, 365 * 86_400).default(86_400),
  rateLimit: wholeNumber(0, 1_000_000).default(6000),
  trustedProxies: z
    .array(text())
    .refine((list) => list.every(isNetwork), "must be IP addresses and networks, separated by commas")
    .default([]),
  webhookKeys: text().optional(),
  webhooksPrivate: flag(),
  auditDays: wholeNumber(0, 36_500).default(365),
  addressDays: wholeNumber(0, 36_500).default(30),
  registry: z.strictObject(registryFields).optional(),
}) satisfies z.ZodType<unknown, ServiceConfig>;

/**
 * Checks a configuration and adds the defaults.
 * @param nameOf returns the name of a field such as `registry.chainId` in error messages. Default: the field itself
 * @param faults further faults to report
 * @throws ArgumentError CONFIGURATION_INVALID. The message lists every invalid field, without its value
 */
export function resolveConfig(
  config: unknown,
  nameOf = (field: string) => field,
  faults: readonly string[] = [],
): ResolvedConfig {
  const all = [...faultsBetweenFields(config as ServiceConfig, nameOf), ...faults];
  return checkConfig(schema, config, Object.keys(SERVICE_VARIABLES), nameOf, all);
}

function faultsBetweenFields(config: ServiceConfig, nameOf: (field: string) => string): string[] {
  const { databaseUrl, signingKeys, serviceUrl, stage = DEFAULT_STAGE, host = DEFAULT_HOST } = config;
  const faults: string[] = [];
  if (databaseUrl !== undefined) {
    // In production, all replicas need the same signing keys and issuer.
    if (signingKeys === undefined)
      faults.push(`${nameOf("signingKeys")} is missing. All replicas need the same signing keys`);
    if (serviceUrl === undefined)
      faults.push(`${nameOf("serviceUrl")} is missing. Access tokens contain it as their issuer`);
  }
  if (typeof host === "string" && !isReachedLocallyOnly(host) && !isHttps(serviceUrl))
    faults.push(
      `${nameOf("serviceUrl")} must be an https URL, because callers send tokens to it. It may be http only if ${nameOf("host")} is a loopback address`,
    );
  if (config.accounts !== undefined && config.registry === undefined)
    faults.push(
      `${nameOf("accounts")} requires ${nameOf("registry.contract")} and ${nameOf("registry.chainId")}, which each account names`,
    );
  if (stage.length > MAX_STAGE)
    faults.push(`${nameOf("stage")} must have at most ${MAX_STAGE} characters. Bucket names contain it`);
  return faults;
}

/** Returns the rate limits per minute. If callers have no limit, the other limits are off. */
export function rateLimitsOf({ rateLimit: caller }: Pick<ResolvedConfig, "rateLimit">): RateLimitOptions {
  return { caller, address: 10 * caller, refused: caller === 0 ? 0 : REFUSED_PER_MINUTE };
}

/** Whether an address to listen on can be reached only from this machine. */
function isReachedLocallyOnly(host: string): boolean {
  const url = `http://${isIP(host) === 6 ? `[${host}]` : host}`;
  return URL.canParse(url) && isLoopback(new URL(url).hostname);
}

function isHttps(url: unknown): boolean {
  return typeof url === "string" && /^https:/i.test(url);
}

function isNetwork(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIP(address);
  return (
    family !== 0 &&
    rest.length === 0 &&
    (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)))
  );
}
