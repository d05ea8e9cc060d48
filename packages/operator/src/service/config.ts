import { isIP } from "node:net";
import { z } from "zod";
import { ArgumentError } from "keyroot/errors";
import type { Region } from "keyroot/identity";

/** Longest name of a bucket (S3), what `bucketOf` adds beside prefix and stage: three hyphens, a region, a user's id. */
const MOST_BUCKET = 63;
const DEFAULT_BUCKET_PREFIX = "keyroot";
const DEFAULT_STAGE = "dev";
const BUCKET_REST = 3 + "us-west-2".length + 32;

/** Everything that an operator can set, each by an environment variable. */
export interface Config {
  host: string;
  port: number;
  /** The service's address as its callers know it: the issuer of access tokens. */
  baseUrl: string | undefined;
  stage: string;
  bucketPrefix: string;
  databaseUrl: string | undefined;
  regionUrls: Record<Region, string | undefined>;
  /** The folder of the database in this process; undefined with PostgreSQL, and for one in memory. */
  databaseFolder: string | undefined;
  connections: number;
  /** The file of signing keys; undefined makes a key for this run. */
  signingKeys: string | undefined;
  adminToken: string | undefined;
  /** How many requests a caller may make in a minute; 0 for any number. */
  rateLimit: number;
  /** The proxies whose word on the caller's address is taken: addresses and networks. */
  trustedProxies: string[];
  logLevel: string;
  chain: ChainConfig | undefined;
}

/** Where the service publishes keys. */
export interface ChainConfig {
  rpcUrl: string;
  contract: string;
  /** How many blocks deep a root must be to count as published; 1 is the newest. */
  confirmations: number;
  /** Where each region's Merkle-tree files are stored. */
  files: Record<Region, string>;
}

const url = (protocols: RegExp) => z.url({ protocol: protocols, error: "is not an address of the right kind" });
const postgres = url(/^postgres(?:ql)?$/);
const http = url(/^https?$/);
const count = (most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, "is not a whole number")
    .transform(Number)
    .pipe(z.number().max(most, `is more than ${most}`));
const name = z.string().regex(/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/, "is not lower case, digits and hyphens");

const environment = z.object({
  DATABASE_URL: postgres.optional(),
  DATABASE_URL_US_WEST_2: postgres.optional(),
  DATABASE_URL_EU_WEST_1: postgres.optional(),
  KEYROOT_HOST: z
    .string()
    .refine((host) => host === "localhost" || isIP(host) !== 0, "is not an IP address")
    .default("127.0.0.1"),
  KEYROOT_PORT: count(65_535).default(8547),
  KEYROOT_BASE_URL: http.optional(),
  KEYROOT_STAGE: name.default(DEFAULT_STAGE),
  KEYROOT_BUCKET_PREFIX: name.default(DEFAULT_BUCKET_PREFIX),
  KEYROOT_DATABASE_FOLDER: z.string().default(".keyroot/database"),
  KEYROOT_DATABASE_CONNECTIONS: count(1000).default(10),
  KEYROOT_SIGNING_KEYS: z.string().optional(),
  KEYROOT_ADMIN_TOKEN: z.string().min(32, "has less than 32 characters").optional(),
  KEYROOT_RATE_LIMIT: count(1_000_000).default(6000),
  KEYROOT_TRUSTED_PROXIES: z
    .string()
    .transform((list) => list.split(",").map((proxy) => proxy.trim()))
    .refine((list) => list.every(isNetwork), "is not a list of addresses and networks, with commas between them")
    .default([]),
  KEYROOT_LOG_LEVEL: z
    .enum(["fatal", "error", "warn", "info", "debug", "silent"], "is no level of the log")
    .default("info"),
  KEYROOT_RPC_URL: http.optional(),
  KEYROOT_CONTRACT: z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}$/, "is not 0x and 40 hex digits")
    .optional(),
  KEYROOT_CONFIRMATIONS: count(1000).pipe(z.number().min(1, "is less than 1")).default(1),
  KEYROOT_FILES: z.string().optional(),
  KEYROOT_FILES_US_WEST_2: z.string().optional(),
  KEYROOT_FILES_EU_WEST_1: z.string().optional(),
});

/** What no variable shows by itself. */
function faultsOfAll(set: Record<string, string | undefined>): string[] {
  const faults: string[] = [];
  const { DATABASE_URL, KEYROOT_SIGNING_KEYS, KEYROOT_BASE_URL, KEYROOT_RPC_URL, KEYROOT_CONTRACT, KEYROOT_FILES } =
    set;
  if (DATABASE_URL !== undefined) {
    // Not development: all replicas sign alike, and they and their callers agree on the issuer.
    if (KEYROOT_SIGNING_KEYS === undefined) faults.push("KEYROOT_SIGNING_KEYS is missing: all replicas sign alike");
    if (KEYROOT_BASE_URL === undefined) faults.push("KEYROOT_BASE_URL is missing: it is the issuer of access tokens");
  }
  const chain = { KEYROOT_RPC_URL, KEYROOT_CONTRACT, KEYROOT_FILES };
  if (Object.values(chain).some((value) => value !== undefined)) {
    for (const [name, value] of Object.entries(chain))
      if (value === undefined) faults.push(`${name} is missing: publishing needs ${Object.keys(chain).join(", ")}`);
  }
  const { KEYROOT_BUCKET_PREFIX: prefix = DEFAULT_BUCKET_PREFIX, KEYROOT_STAGE: stage = DEFAULT_STAGE } = set;
  if (prefix.length + stage.length + BUCKET_REST > MOST_BUCKET) {
    const most = MOST_BUCKET - BUCKET_REST;
    faults.push(
      `KEYROOT_BUCKET_PREFIX and KEYROOT_STAGE have together more than ${most} characters: too long for a bucket`,
    );
  }
  return faults;
}

/**
 * Reads the service's configuration. Variables that are set to nothing count as not set.
 * @throws ArgumentError CONFIGURATION_INVALID, one message that names everything wrong, without any value
 */
export function readConfig(variables: NodeJS.ProcessEnv): Config {
  const set = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ""));
  const parsed = environment.safeParse(set);
  const faults = [
    ...(parsed.error?.issues ?? []).map(({ path, message }) => `${path.join(".")} ${message}`),
    ...faultsOfAll(set),
  ];
  if (!parsed.success || faults.length > 0)
    throw new ArgumentError("CONFIGURATION_INVALID", `The configuration is not valid:\n  ${faults.join("\n  ")}`);

  const env = parsed.data;
  const { KEYROOT_RPC_URL: rpcUrl, KEYROOT_CONTRACT: contract, KEYROOT_FILES: files } = env;
  return {
    host: env.KEYROOT_HOST,
    port: env.KEYROOT_PORT,
    baseUrl: env.KEYROOT_BASE_URL?.replace(/\/$/, ""),
    stage: env.KEYROOT_STAGE,
    bucketPrefix: env.KEYROOT_BUCKET_PREFIX,
    databaseUrl: env.DATABASE_URL,
    regionUrls: { "us-west-2": env.DATABASE_URL_US_WEST_2, "eu-west-1": env.DATABASE_URL_EU_WEST_1 },
    databaseFolder: env.DATABASE_URL === undefined ? env.KEYROOT_DATABASE_FOLDER : undefined,
    connections: env.KEYROOT_DATABASE_CONNECTIONS,
    signingKeys: env.KEYROOT_SIGNING_KEYS,
    adminToken: env.KEYROOT_ADMIN_TOKEN,
    rateLimit: env.KEYROOT_RATE_LIMIT,
    trustedProxies: env.KEYROOT_TRUSTED_PROXIES,
    logLevel: env.KEYROOT_LOG_LEVEL,
    chain:
      rpcUrl === undefined || contract === undefined || files === undefined
        ? undefined
        : {
            rpcUrl,
            contract,
            confirmations: env.KEYROOT_CONFIRMATIONS,
            files: {
              "us-west-2": env.KEYROOT_FILES_US_WEST_2 ?? files,
              "eu-west-1": env.KEYROOT_FILES_EU_WEST_1 ?? files,
            },
          },
  };
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
