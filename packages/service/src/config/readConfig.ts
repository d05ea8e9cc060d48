import { REGIONS } from "keyroot/internal/identity";
import { type ResolvedConfig, resolveConfig } from "./config.ts";
import { VARIABLES } from "./variables.ts";

/** The configuration fields with numbers as environment variables. */
const NUMBERS = new Set([
  ...["port", "monitoringPort", "connections", "shutdownDelay", "holdPeriod", "rateLimit", "addressRateLimit"],
  ...["refusedRateLimit", "eventDays", "auditDays", "chain.chainId", "chain.confirmations"],
]);
/** The configuration fields with `true` or `false` as environment variables. */
const FLAGS = new Set(["holdOnConflict", "webhooksPrivate", "chain.brotli", "chain.allowHttp"]);

/**
 * Reads the configuration from environment variables. An empty variable counts as unset.
 * @throws ArgumentError CONFIGURATION_INVALID. The message lists every invalid variable without the variable's value
 * @example
 * ```ts
 * const service = await startService({ ...readConfig(process.env), port: 0 });
 * ```
 */
export function readConfig(environment: NodeJS.ProcessEnv): ResolvedConfig {
  const values: Record<string, unknown> = {};
  for (const [field, variable] of Object.entries(VARIABLES)) {
    const text = environment[variable];
    if (text !== undefined && text !== "") values[field] = toValue(field, text);
  }
  /** Returns the fields with a prefix. The names of the returned fields do not include the prefix. */
  const group = (prefix: string) =>
    Object.fromEntries(
      Object.entries(values).flatMap(([field, value]) =>
        field.startsWith(prefix) && !field.includes(".", prefix.length) ? [[field.slice(prefix.length), value]] : [],
      ),
    );
  const { files, ...chain } = group("chain.");
  const ofRegions = group("chain.files.");
  const publishes = ["chain.rpcUrl", "chain.contract", "chain.files"].some((field) => field in values);
  const config = {
    ...group(""),
    regionUrls: group("regionUrls."),
    ...(publishes && {
      chain: {
        ...chain,
        ...(files !== undefined && {
          files: Object.fromEntries(REGIONS.map((region) => [region, ofRegions[region] ?? files])),
        }),
      },
    }),
  };
  return resolveConfig(config, (field) => (VARIABLES as Record<string, string>)[field] ?? field);
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
