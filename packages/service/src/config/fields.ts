import { z } from "zod";
import { ADDRESS, hasValidChecksum } from "keyroot/internal/ethereum";
import type { KeyTypeName, Region } from "keyroot/internal/identity";
import { KEY_TYPE_NAMES } from "keyroot/internal/keyTypeNames";
import { nearestName } from "@keyroot/operator/shared";
import { ArgumentError } from "../api/base/errors.ts";

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "silent"] as const;

/** The configuration of the databases and of the registry's keys, which a service and its publisher share. */
export interface SharedConfig {
  /**
   * The `postgres://…` URL of the home database. A service without a URL runs PGlite in its process, for development.
   */
  databaseUrl?: string | undefined;
  /** The `postgres://…` URL of each regional database. Default: `databaseUrl`. */
  regionUrls?: Partial<Record<Region, string | undefined>> | undefined;
  /** The folder in which PGlite stores its data. Null keeps the data in memory. Default: `.keyroot/database`. */
  databaseFolder?: string | null | undefined;
  /** Maximum number of connections to each PostgreSQL database. Default: 10. */
  connections?: number | undefined;
  /** The type of the registry's keys. Default: `curve41417`. */
  keyType?: KeyTypeName | undefined;
  /**
   * `required` if all user ids are accounts, so that users can change their keys (docs/accounts.md). Set it for both
   * the service and the publisher. Default: unset, for one key per user.
   */
  accounts?: "required" | undefined;
  /** Whether a key with a conflicting key is published only after the partner's decision. Default: false. */
  holdOnConflict?: boolean | undefined;
  /** The log level: `fatal`, `error`, `warn`, `info`, `debug` or `silent`. Default: `info`. */
  logLevel?: (typeof LOG_LEVELS)[number] | undefined;
}

export const text = () => z.string("must be a string");
export const flag = () => z.boolean("must be true or false").default(false);
const url = (protocol: RegExp, example: string) => z.url({ protocol, error: `must be a URL like ${example}` });
const postgresUrl = () =>
  url(
    /^postgres(?:ql)?$/,
    "postgres://user:password@host/database, with one host, and characters such as # / ? @ in the password as %23 %2F %3F %40. A socket's URL is like postgres:///database?host=/run/postgresql",
  );
export const httpUrl = () => url(/^https?$/, "https://host");
export const wholeNumber = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int(error).min(min, error).max(max, error);
};
export const inEachRegion = <T extends z.ZodType>(value: T) =>
  z.strictObject({ "us-west-2": value, "eu-west-1": value });

/** The fields of every process that uses the databases. */
export const databaseFields = {
  databaseUrl: postgresUrl().optional(),
  regionUrls: inEachRegion(postgresUrl().optional()).default({}),
  databaseFolder: text().nullable().default(".keyroot/database"),
  connections: wholeNumber(1, 1000).default(10),
};

/** The fields that the service and its publisher share. */
export const sharedFields = {
  ...databaseFields,
  keyType: z.enum(KEY_TYPE_NAMES, `must be one of ${KEY_TYPE_NAMES.join(", ")}`).default("curve41417"),
  accounts: z.literal("required", "must be required or unset").optional(),
  holdOnConflict: flag(),
  logLevel: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}`).default("info"),
};

/** The registry: the chain's id (EIP-155) and the contract's address. */
export const registryFields = {
  contract: text()
    .regex(ADDRESS, "must be 0x and 40 hex digits")
    .refine(hasValidChecksum, "must have a valid checksum (EIP-55), or letters of only one case"),
  chainId: wholeNumber(1, Number.MAX_SAFE_INTEGER),
};

/**
 * Checks a configuration and adds the defaults.
 * @param names further names, with which a misspelled field is compared
 * @param nameOf returns the name of a field such as `chain.rpcUrl` in error messages
 * @param faults faults that concern several fields
 * @throws ArgumentError CONFIGURATION_INVALID. The message lists every invalid field, without its value
 */
export function checkConfig<Schema extends z.ZodObject>(
  schema: Schema,
  config: unknown,
  names: readonly string[],
  nameOf: (field: string) => string,
  faults: readonly string[] = [],
): z.output<Schema> {
  const parsed = schema.safeParse(config, { reportInput: true });
  const known = [...Object.keys(schema.shape), ...names];
  const all = [...(parsed.error?.issues ?? []).map((issue) => faultOf(issue, nameOf, known)), ...faults];
  if (parsed.success && all.length === 0) return parsed.data;
  throw new ArgumentError("CONFIGURATION_INVALID", `The configuration is invalid:\n  ${all.join("\n  ")}`);
}

const NEEDED_TO_PUBLISH = ["chain.rpcUrl", "chain.contract", "chain.chainId", "chain.files"];

function faultOf(issue: z.core.$ZodIssue, nameOf: (field: string) => string, known: readonly string[]): string {
  const field = issue.path.join(".");
  const name = nameOf(field);
  if (issue.code === "unrecognized_keys") {
    const keys = issue.keys.map((key) => (field === "" ? key : `${field}.${key}`));
    const nearest = nearestName(keys[0] ?? "", known);
    const hint = nearest === undefined ? "" : `. Did you mean ${nearest}?`;
    return `${keys.join(", ")} is not a field of the configuration${hint}`;
  }
  if (issue.input !== undefined) return `${name} ${issue.message}`;
  return NEEDED_TO_PUBLISH.includes(field)
    ? `${name} is missing. Publishing requires ${NEEDED_TO_PUBLISH.map(nameOf).join(", ")}`
    : `${name} is missing`;
}
