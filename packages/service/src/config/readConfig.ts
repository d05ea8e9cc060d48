import { type ResolvedConfig, resolveNamed } from "./config.ts";
import { type Variable, VARIABLES } from "./variables.ts";

/**
 * Reads the configuration from environment variables. An empty variable counts as unset.
 * @throws ArgumentError CONFIGURATION_INVALID. The message lists every invalid variable, without its value
 * @example
 * ```ts
 * const service = await startService({ ...readConfig(process.env), port: 0 });
 * ```
 */
export function readConfig(environment: NodeJS.ProcessEnv): ResolvedConfig {
  const read = (variable: Variable) => (environment[variable] === "" ? undefined : environment[variable]);
  const number = (variable: Variable) => {
    const value = read(variable);
    return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : value;
  };
  const flag = (variable: Variable) => {
    const value = read(variable);
    return value === "true" || value === "false" ? value === "true" : value;
  };
  const rpcUrl = read("KEYROOT_RPC_URL");
  const secondRpcUrl = read("KEYROOT_SECOND_RPC_URL");
  const contract = read("KEYROOT_CONTRACT");
  const files = read("KEYROOT_FILES");
  const maxFee = read("KEYROOT_MAX_FEE");
  const maxCost = read("KEYROOT_MAX_COST");
  const maxCostPerDay = read("KEYROOT_MAX_COST_PER_DAY");
  const allowHttp = read("KEYROOT_ALLOW_HTTP");
  const publishes = [rpcUrl, contract, files].some((value) => value !== undefined);
  const config = {
    databaseUrl: read("DATABASE_URL"),
    regionUrls: { "us-west-2": read("DATABASE_URL_US_WEST_2"), "eu-west-1": read("DATABASE_URL_EU_WEST_1") },
    host: read("KEYROOT_HOST"),
    port: number("KEYROOT_PORT"),
    monitoringHost: read("KEYROOT_MONITORING_HOST"),
    monitoringPort: number("KEYROOT_MONITORING_PORT"),
    serviceUrl: read("KEYROOT_SERVICE_URL"),
    explorerUrl: read("KEYROOT_EXPLORER_URL"),
    blockExplorerUrl: read("KEYROOT_BLOCK_EXPLORER_URL"),
    stage: read("KEYROOT_STAGE"),
    bucketPrefix: read("KEYROOT_BUCKET_PREFIX"),
    databaseFolder: read("KEYROOT_DATABASE_FOLDER"),
    connections: number("KEYROOT_DATABASE_CONNECTIONS"),
    signingKeys: read("KEYROOT_SIGNING_KEYS"),
    adminToken: read("KEYROOT_ADMIN_TOKEN"),
    shutdownDelay: number("KEYROOT_SHUTDOWN_DELAY"),
    possession: read("KEYROOT_POSSESSION"),
    holdPeriod: number("KEYROOT_HOLD_PERIOD"),
    holdOnConflict: flag("KEYROOT_HOLD_ON_CONFLICT"),
    rateLimit: number("KEYROOT_RATE_LIMIT"),
    addressRateLimit: number("KEYROOT_ADDRESS_RATE_LIMIT"),
    refusedRateLimit: number("KEYROOT_REFUSED_RATE_LIMIT"),
    trustedProxies: read("KEYROOT_TRUSTED_PROXIES")
      ?.split(",")
      .map((proxy) => proxy.trim()),
    logLevel: read("KEYROOT_LOG_LEVEL"),
    webhookKeys: read("KEYROOT_WEBHOOK_KEYS"),
    webhooksPrivate: flag("KEYROOT_WEBHOOK_PRIVATE"),
    eventDays: number("KEYROOT_EVENT_DAYS"),
    auditDays: number("KEYROOT_AUDIT_DAYS"),
    chain: publishes
      ? {
          rpcUrl,
          ...(secondRpcUrl !== undefined && { secondRpcUrl }),
          contract,
          chainId: number("KEYROOT_CHAIN_ID"),
          ...(allowHttp !== undefined && { allowHttp: allowHttp === "true" ? true : allowHttp }),
          ...(maxFee !== undefined && { maxFee }),
          ...(maxCost !== undefined && { maxCost }),
          ...(maxCostPerDay !== undefined && { maxCostPerDay }),
          confirmations: number("KEYROOT_CONFIRMATIONS"),
          files:
            files === undefined
              ? undefined
              : {
                  "us-west-2": read("KEYROOT_FILES_US_WEST_2") ?? files,
                  "eu-west-1": read("KEYROOT_FILES_EU_WEST_1") ?? files,
                },
          proofs: flag("KEYROOT_PROOFS"),
          brotli: flag("KEYROOT_BROTLI"),
        }
      : undefined,
  };
  return resolveNamed(config, (field) => (VARIABLES as Record<string, string>)[field] ?? field);
}
