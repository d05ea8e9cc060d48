import { isIP } from "node:net";
import { z } from "zod";
import { ADDRESS, hasValidChecksum } from "keyroot/internal/ethereum";
import type { Region } from "keyroot/internal/identity";
import { nearestName } from "keyroot/internal/input";
import { isLoopback } from "keyroot/internal/transport";
import { MAX_TIMER_SECONDS } from "@keyroot/operator/shared";
import { type CostLimits, isLocalChain, parseAmount } from "@keyroot/operator/publisher";
import { ArgumentError } from "../errors.ts";
import type { RateLimitOptions } from "../rateLimits/rateLimits.ts";
import type { ChainConfig } from "../publishing/chainConfig.ts";
import { looksRandom } from "./looksRandom.ts";
import { VARIABLES } from "./variables.ts";

/**
 * The configuration of a service. All fields are optional. docs/variables.md describes the environment variable of each
 * field.
 */
export interface ServiceConfig {
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
  /** The first part of bucket names. Default: `keyroot`. */
  bucketPrefix?: string | undefined;
  /**
   * The `postgres://…` URL of the home database. If the URL is missing, PGlite runs in this process, for development.
   */
  databaseUrl?: string | undefined;
  /** The `postgres://…` URL of each regional database. Default: `databaseUrl`. */
  regionUrls?: Partial<Record<Region, string | undefined>> | undefined;
  /** The folder in which PGlite stores its data. Null keeps the data in memory. Default: `.keyroot/database`. */
  databaseFolder?: string | null | undefined;
  /** Maximum number of connections to each PostgreSQL database. Default: 10. */
  connections?: number | undefined;
  /** The file of signing keys. Required with `databaseUrl`. Default without `databaseUrl`: a new key at each start. */
  signingKeys?: string | undefined;
  /** The operator's token: at least 32 random characters. If unset, admin operations are disabled. */
  adminToken?: string | undefined;
  /** IP address that serves /healthz, /readyz and /metrics. Default: 127.0.0.1. */
  monitoringHost?: string | undefined;
  /** Port of /healthz, /readyz and /metrics. 0 means any free port, and null means no port. Default: 9547. */
  monitoringPort?: number | null | undefined;
  /**
   * Seconds for which a stopping service still accepts requests. During this time, /readyz responds with 503, so that
   * load balancers choose another replica. Default: 0.
   */
  shutdownDelay?: number | undefined;
  /** Whether a user must prove possession of the private key to register a public key. Default: `required`. */
  possession?: "required" | "optional" | undefined;
  /** Hold period: seconds between registration and publication. Default: 86,400. */
  holdPeriod?: number | undefined;
  /** Whether the service publishes a key with a conflicting key only after the partner's decision. Default: false. */
  holdOnConflict?: boolean | undefined;
  /** Maximum requests per minute and caller. 0 means no limit. Default: 6000. */
  rateLimit?: number | undefined;
  /** Maximum requests per minute and address, over all callers. 0 means no limit. Default: ten times `rateLimit`. */
  addressRateLimit?: number | undefined;
  /**
   * Maximum rejected requests of unknown callers per minute and address. 0 means no limit. Default: 100, or 0 if
   * `rateLimit` is 0.
   */
  refusedRateLimit?: number | undefined;
  /**
   * IP addresses and networks of proxies. The service ignores the `X-Forwarded-For` header of other senders. Default:
   * none.
   */
  trustedProxies?: string[] | undefined;
  /** The log level: `fatal`, `error`, `warn`, `info`, `debug` or `silent`. Default: `info`. */
  logLevel?: LogLevel | undefined;
  /**
   * The file of keys that encrypt webhook secrets. Each line of the file is 32 bytes in base64. Without this file,
   * webhook endpoints are disabled.
   */
  webhookKeys?: string | undefined;
  /** Whether webhooks may use plain http and private addresses, for local use. Default: false. */
  webhooksPrivate?: boolean | undefined;
  /** Number of days for which events and deliveries are kept. Default: 30. */
  eventDays?: number | undefined;
  /** Number of days for which audit log entries are kept. 0 keeps all entries. Default: 365. */
  auditDays?: number | undefined;
  /** The chain and stores for publishing. If unset, the service does not publish keys. */
  chain?: ChainOptions | undefined;
  /** The publishing schedule. If unset, keys are published only by the operator's command. Requires `chain`. */
  schedule?: Schedule | undefined;
}

/** When the service publishes by itself. */
export interface Schedule {
  /** Seconds between two checks for publishable keys: more than 0, at most `MAX_TIMER_SECONDS`. */
  every: number;
  /** Minimum number of publishable keys that starts a publication. */
  atLeast: number;
}

/** The chain and stores for publishing. */
export interface ChainOptions extends Pick<ChainConfig, "rpcUrl" | "secondRpcUrl" | "contract" | "chainId"> {
  /** Whether an endpoint on another machine may use plain http. Default: false. */
  allowHttp?: boolean | undefined;
  /** Maximum gwei per unit of gas, as a decimal number. Required, except for development chains on this machine. */
  maxFee?: string | undefined;
  /** Maximum priority fee (tip) in gwei per unit of gas, as a decimal number. Default: a quarter of `maxFee`, which it requires. */
  maxPriorityFee?: string | undefined;
  /**
   * Maximum cost of a plan, including all rounds of the plan, in ETH as a decimal number. Default: the default of
   * `CostLimits`. Requires `maxFee`.
   */
  maxCost?: string | undefined;
  /** Maximum cost of all plans within 24 hours, in ETH as a decimal number. Default: no limit. Requires `maxFee`. */
  maxCostPerDay?: string | undefined;
  /** Number of blocks, including the root's block, after which a root counts as published. Default: 1. */
  confirmations?: number | undefined;
  /** The store of Merkle-tree files, for all regions or for each region: a folder, or `s3://<bucket>/<prefix>`. */
  files: string | ChainConfig["files"];
  /** Whether to store Brotli-compressed copies of files. Default: false. */
  brotli?: boolean | undefined;
}

/** A complete, valid configuration. */
export type ResolvedConfig = z.output<typeof schema>;

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "silent"] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

const DEFAULT_REFUSED = 100;
const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_BUCKET_PREFIX = "keyroot";
const DEFAULT_STAGE = "dev";
/**
 * Maximum length of the prefix and the stage together. An S3 bucket's name has at most 63 characters. `bucketName` adds
 * three hyphens, the region and the user id.
 */
const MAX_PREFIX_AND_STAGE = 63 - 3 - "us-west-2".length - 32;

const text = () => z.string("must be a string");
const gwei = () => text().refine((amount) => parseAmount(amount, "gwei"), "must be a number of gwei above 0");
const ether = () => text().refine((amount) => parseAmount(amount, "ether"), "must be a number of ETH above 0");
const url = (protocol: RegExp, example: string) => z.url({ protocol, error: `must be a URL like ${example}` });
const bindAddress = () =>
  text().refine((host) => host === "localhost" || isIP(host) !== 0, "must be an IP address or localhost");
const postgresUrl = () =>
  url(
    /^postgres(?:ql)?$/,
    "postgres://user:password@host/database, with one host, and characters such as # / ? @ in the password as %23 %2F %3F %40. A socket's URL is like postgres:///database?host=/run/postgresql",
  );
const httpUrl = () => url(/^https?$/, "https://host");
const wholeNumber = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int(error).min(min, error).max(max, error);
};
const label = () =>
  text().regex(/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/, "must consist of lowercase letters, digits and inner hyphens");
const inEachRegion = <T extends z.ZodType>(value: T) => z.strictObject({ "us-west-2": value, "eu-west-1": value });

const schema = z.strictObject({
  host: bindAddress().default(DEFAULT_HOST),
  port: wholeNumber(0, 65_535).default(8547),
  monitoringHost: bindAddress().default(DEFAULT_HOST),
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
  stage: label().default(DEFAULT_STAGE),
  bucketPrefix: label().default(DEFAULT_BUCKET_PREFIX),
  databaseUrl: postgresUrl().optional(),
  regionUrls: inEachRegion(postgresUrl().optional()).default({}),
  databaseFolder: text().nullable().default(".keyroot/database"),
  connections: wholeNumber(1, 1000).default(10),
  signingKeys: text().optional(),
  // The characters that a bearer token may contain (RFC 6750, section 2.1).
  adminToken: text()
    .regex(/^[\w.~+/-]{32,}=*$/, "must be at least 32 letters, digits or characters of - . _ ~ + /")
    .refine(looksRandom, "is too easy to guess. Make one with 'openssl rand -hex 32'")
    .optional(),
  shutdownDelay: wholeNumber(0, 300).default(0),
  possession: z.enum(["required", "optional"], "must be required or optional").default("required"),
  holdPeriod: wholeNumber(0, 365 * 86_400).default(86_400),
  holdOnConflict: z.boolean("must be true or false").default(false),
  rateLimit: wholeNumber(0, 1_000_000).default(6000),
  addressRateLimit: wholeNumber(0, 10_000_000).optional(),
  refusedRateLimit: wholeNumber(0, 1_000_000).optional(),
  trustedProxies: z
    .array(text())
    .refine((list) => list.every(isNetwork), "must be IP addresses and networks, separated by commas")
    .default([]),
  logLevel: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}`).default("info"),
  webhookKeys: text().optional(),
  webhooksPrivate: z.boolean("must be true or false").default(false),
  eventDays: wholeNumber(4, 3650).default(30),
  auditDays: wholeNumber(0, 36_500).default(365),
  chain: z
    .strictObject({
      rpcUrl: httpUrl(),
      secondRpcUrl: httpUrl().optional(),
      contract: text()
        .regex(ADDRESS, "must be 0x and 40 hex digits")
        .refine(hasValidChecksum, "must have a valid checksum (EIP-55), or letters of only one case"),
      chainId: wholeNumber(1, Number.MAX_SAFE_INTEGER),
      allowHttp: z.boolean("must be true or unset").default(false),
      maxFee: gwei().optional(),
      maxPriorityFee: gwei().optional(),
      maxCost: ether().optional(),
      maxCostPerDay: ether().optional(),
      confirmations: wholeNumber(1, 1000).default(1),
      files: z.union(
        [text().transform((files) => ({ "us-west-2": files, "eu-west-1": files })), inEachRegion(text())],
        "must be a folder or s3://<bucket>/<prefix>",
      ),
      brotli: z.boolean("must be true or false").default(false),
    })
    .optional(),
  schedule: z
    .strictObject({
      every: z
        .number()
        .positive("must be greater than 0")
        .max(MAX_TIMER_SECONDS, `must be at most ${MAX_TIMER_SECONDS} s`),
      atLeast: wholeNumber(1, 1e9),
    })
    .optional(),
}) satisfies z.ZodType<unknown, ServiceConfig>;

/**
 * Checks a configuration and adds the defaults.
 * @param nameOf returns the name of a field such as `chain.rpcUrl` in error messages. Default: the field itself
 * @throws ArgumentError CONFIGURATION_INVALID. The message lists every invalid field without the field's value
 */
export function resolveConfig(config: unknown, nameOf = (field: string) => field): ResolvedConfig {
  const parsed = schema.safeParse(config, { reportInput: true });
  const faults = [
    ...(parsed.error?.issues ?? []).map((issue) => faultOf(issue, nameOf)),
    ...faultsBetweenFields(config as ServiceConfig, nameOf),
  ];
  if (parsed.success && faults.length === 0) return parsed.data;
  throw new ArgumentError("CONFIGURATION_INVALID", `The configuration is invalid:\n  ${faults.join("\n  ")}`);
}

function faultOf(issue: z.core.$ZodIssue, nameOf: (field: string) => string): string {
  const field = issue.path.join(".");
  const name = nameOf(field);
  if (issue.code === "unrecognized_keys") {
    const keys = issue.keys.map((key) => (field === "" ? key : `${field}.${key}`));
    const nearest = nearestName(keys[0] ?? "", [...Object.keys(schema.shape), ...Object.keys(VARIABLES)]);
    const hint = nearest === undefined ? "" : `. Did you mean ${nearest}?`;
    return `${keys.join(", ")} is not a field of the configuration${hint}`;
  }
  if (issue.input !== undefined) return `${name} ${issue.message}`;
  const required = ["chain.rpcUrl", "chain.contract", "chain.chainId", "chain.files"];
  return required.includes(field)
    ? `${name} is missing. Publishing requires ${required.map(nameOf).join(", ")}`
    : `${name} is missing`;
}

/** Checks the rules that concern several fields. */
function faultsBetweenFields(config: ServiceConfig, nameOf: (field: string) => string): string[] {
  const { databaseUrl, signingKeys, serviceUrl, chain, schedule, host = DEFAULT_HOST } = config;
  const { stage = DEFAULT_STAGE, bucketPrefix = DEFAULT_BUCKET_PREFIX } = config;
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
  if (schedule !== undefined && chain === undefined)
    faults.push(`${nameOf("chain.rpcUrl")} is missing. A publishing schedule requires a chain`);
  if (chain !== undefined && typeof chain.rpcUrl === "string" && typeof chain.chainId === "number") {
    const { rpcUrl, chainId, maxFee, maxPriorityFee, maxCost, maxCostPerDay, allowHttp } = chain;
    for (const field of ["rpcUrl", "secondRpcUrl"] as const)
      if (allowHttp !== true && isRemoteHttp(chain[field]))
        faults.push(`${nameOf(`chain.${field}`)} must be an https URL, unless ${nameOf("chain.allowHttp")} is true`);
    const others = maxPriorityFee ?? maxCost ?? maxCostPerDay;
    if (maxFee === undefined && (others !== undefined || !isLocalChain(rpcUrl, chainId)))
      faults.push(`${nameOf("chain.maxFee")} is missing. It limits the cost of publishing, in gwei per unit of gas`);
  }
  if (stage.length + bucketPrefix.length > MAX_PREFIX_AND_STAGE) {
    const names = `${nameOf("bucketPrefix")} and ${nameOf("stage")}`;
    faults.push(`${names} must have at most ${MAX_PREFIX_AND_STAGE} characters together. Bucket names contain both`);
  }
  return faults;
}

function isRemoteHttp(url: string | undefined): boolean {
  if (url === undefined || !URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !isLoopback(hostname);
}

/** Returns the rate limits per minute. If callers have no limit, the other limits are off by default. */
export function rateLimitsOf(config: ResolvedConfig): RateLimitOptions {
  const { rateLimit: caller, addressRateLimit: address = 10 * caller, refusedRateLimit } = config;
  return { caller, address, refused: refusedRateLimit ?? (caller === 0 ? 0 : DEFAULT_REFUSED) };
}

export function limitsOf({
  maxFee,
  maxPriorityFee = "",
  maxCost = "",
  maxCostPerDay = "",
}: Pick<ChainOptions, "maxFee" | "maxPriorityFee" | "maxCost" | "maxCostPerDay">): CostLimits | "local" {
  const maxFeePerGas = maxFee === undefined ? undefined : parseAmount(maxFee, "gwei");
  if (maxFeePerGas === undefined) return "local";
  const maxPriorityFeePerGas = parseAmount(maxPriorityFee, "gwei");
  const [plan, day] = [parseAmount(maxCost, "ether"), parseAmount(maxCostPerDay, "ether")];
  return { maxFeePerGas, maxPriorityFeePerGas, maxCost: plan, maxCostPerDay: day };
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
