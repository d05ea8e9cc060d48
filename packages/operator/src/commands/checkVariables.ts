import { nearestName } from "./nearestName.ts";
import { ArgumentError } from "../errors.ts";

/** The packages' environment variables that begin with KEYROOT_. docs/variables.md explains each variable. */
export const KNOWN_VARIABLES: readonly string[] = [
  "KEYROOT_ACCOUNTS",
  "KEYROOT_ADDRESS_DAYS",
  "KEYROOT_ADMIN_TOKEN",
  "KEYROOT_ALARM_SECRET",
  "KEYROOT_ALARM_SECRET_FILE",
  "KEYROOT_ALARM_URL",
  "KEYROOT_ALLOW_HTTP",
  "KEYROOT_AUDIT_DAYS",
  "KEYROOT_BLOCK_EXPLORER_URL",
  "KEYROOT_BROTLI",
  "KEYROOT_CHAIN_ID",
  "KEYROOT_CONFIRMATIONS",
  "KEYROOT_CONTRACT",
  "KEYROOT_DATABASE_CONNECTIONS",
  "KEYROOT_EXPLORER_URL",
  "KEYROOT_FILES",
  "KEYROOT_HOLD_ON_CONFLICT",
  "KEYROOT_HOLD_PERIOD",
  "KEYROOT_HOST",
  "KEYROOT_KEY_FILE",
  "KEYROOT_KEY_TYPE",
  "KEYROOT_LOG_LEVEL",
  "KEYROOT_MAX_COST",
  "KEYROOT_MAX_COST_PER_DAY",
  "KEYROOT_MAX_FEE",
  "KEYROOT_MAX_PRIORITY_FEE",
  "KEYROOT_MERKLE_URL",
  "KEYROOT_MONITORING_PORT",
  "KEYROOT_OWNER_KEY",
  "KEYROOT_PASSPHRASE",
  "KEYROOT_PASSPHRASE_FILE",
  "KEYROOT_PORT",
  "KEYROOT_RATE_LIMIT",
  "KEYROOT_RPC_URL",
  "KEYROOT_SECOND_RPC_URL",
  "KEYROOT_SERVICE_URL",
  "KEYROOT_SHUTDOWN_DELAY",
  "KEYROOT_SIGNER_ADDRESS",
  "KEYROOT_SIGNER_URL",
  "KEYROOT_SIGNING_KEYS",
  "KEYROOT_STACK_FILE",
  "KEYROOT_STAGE",
  "KEYROOT_TRUSTED_PROXIES",
  "KEYROOT_UNAVAILABLE_AFTER",
  "KEYROOT_WEBHOOK_KEYS",
  "KEYROOT_WEBHOOK_PRIVATE",
];

/**
 * Rejects unknown variables that begin with KEYROOT_, because a misspelled variable would otherwise be ignored without
 * an error. An empty variable is allowed, because it has no effect.
 * @throws ArgumentError VARIABLE_UNKNOWN, with each unknown variable and the nearest known name
 */
export function checkVariables(environment: NodeJS.ProcessEnv): void {
  const unknown = Object.keys(environment).filter(
    (name) => name.startsWith("KEYROOT_") && environment[name] !== "" && !KNOWN_VARIABLES.includes(name),
  );
  if (unknown.length === 0) return;
  const names = unknown.sort().map((name) => {
    const nearest = nearestName(name, KNOWN_VARIABLES);
    return nearest === undefined ? name : `${name} (the nearest is ${nearest})`;
  });
  const [variable, them] = unknown.length === 1 ? ["variable", "it"] : ["variables", "them"];
  const message = `Unknown environment ${variable}: ${names.join(", ")}. Correct or unset ${them}.`;
  throw new ArgumentError("VARIABLE_UNKNOWN", message, { actual: unknown });
}
