import { z } from "zod";
import { checkConfig, databaseFields } from "./fields.ts";
import { type ResolvedPublisherConfig, resolvePublisherConfig } from "./publisherConfig.ts";
import { type ResolvedConfig, resolveConfig } from "./serviceConfig.ts";
import { DATABASE_VARIABLES, PUBLISHER_VARIABLES, SERVICE_VARIABLES, SIGNER_VARIABLES } from "./variables.ts";

/** The configuration fields with numbers as environment variables. */
const NUMBERS = new Set([
  ...["port", "monitoringPort", "connections", "shutdownDelay", "holdPeriod", "rateLimit", "auditDays"],
  "addressDays",
  ...["registry.chainId", "chain.chainId", "chain.confirmations"],
]);
/** The configuration fields with `true` or `false` as environment variables. */
const FLAGS = new Set(["holdOnConflict", "webhooksPrivate", "chain.allowHttp"]);

/**
 * Reads the service's configuration from environment variables. Empty variables are ignored. A variable for the
 * registry owner's key is invalid, because only the publisher may hold that key.
 * @throws ArgumentError CONFIGURATION_INVALID. The message lists every invalid variable, without its value
 * @example
 * ```ts
 * const service = await startService({ ...readConfig(process.env), port: 0 });
 * ```
 */
export function readConfig(environment: NodeJS.ProcessEnv): ResolvedConfig {
  const faults = SIGNER_VARIABLES.filter((name) => (environment[name] ?? "") !== "").map(
    (name) =>
      `${name} must be unset. The process that answers HTTP requests holds no key of the owner: 'keyroot publisher' does`,
  );
  return resolveConfig(valuesOf(environment, SERVICE_VARIABLES), namesFrom(SERVICE_VARIABLES), faults);
}

/**
 * Reads the publisher's configuration from environment variables. An empty variable is ignored.
 * @throws ArgumentError CONFIGURATION_INVALID. The message lists every invalid variable, without its value
 */
export function readPublisherConfig(environment: NodeJS.ProcessEnv): ResolvedPublisherConfig {
  const values = { chain: {}, ...valuesOf(environment, PUBLISHER_VARIABLES) };
  return resolvePublisherConfig(values, namesFrom(PUBLISHER_VARIABLES));
}

/**
 * Reads the configuration of the databases from environment variables.
 * @throws ArgumentError CONFIGURATION_INVALID. The message lists every invalid variable, without its value
 */
export function readDatabaseConfig(environment: NodeJS.ProcessEnv) {
  const values = valuesOf(environment, DATABASE_VARIABLES);
  return checkConfig(z.strictObject(databaseFields), values, [], namesFrom(DATABASE_VARIABLES));
}

/** Returns the fields of set variables. A field such as `chain.rpcUrl` is in the object of its first part. */
function valuesOf(environment: NodeJS.ProcessEnv, variables: Readonly<Record<string, string>>) {
  const values: Record<string, unknown> = {};
  for (const [field, variable] of Object.entries(variables)) {
    const text = environment[variable] ?? "";
    if (text === "") continue;
    const [group = "", name] = field.split(".");
    if (name === undefined) values[field] = toValue(field, text);
    else values[group] = { ...(values[group] as object | undefined), [name]: toValue(field, text) };
  }
  return values;
}

function namesFrom(variables: Readonly<Record<string, string>>): (field: string) => string {
  return (field) => variables[field] ?? field;
}

/**
 * Converts a variable's text to the field's type. Returns invalid text unchanged, so that `resolveConfig` reports the
 * text.
 */
function toValue(field: string, text: string): unknown {
  if (NUMBERS.has(field) && /^\d{1,15}$/.test(text)) return Number(text);
  if (FLAGS.has(field) && (text === "true" || text === "false")) return text === "true";
  return field === "trustedProxies" ? text.split(",").map((proxy) => proxy.trim()) : text;
}
