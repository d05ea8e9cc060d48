import { URL_VARIABLES } from "../api/database/urlVariables.ts";

/** The environment variables of every process that uses the databases. */
export const DATABASE_VARIABLES = {
  databaseUrl: URL_VARIABLES.home,
  "regionUrls.us-west-2": URL_VARIABLES["us-west-2"],
  "regionUrls.eu-west-1": URL_VARIABLES["eu-west-1"],
  connections: "KEYROOT_DATABASE_CONNECTIONS",
} as const;

const SHARED_VARIABLES = {
  ...DATABASE_VARIABLES,
  keyType: "KEYROOT_KEY_TYPE",
  accounts: "KEYROOT_ACCOUNTS",
  holdOnConflict: "KEYROOT_HOLD_ON_CONFLICT",
  logLevel: "KEYROOT_LOG_LEVEL",
} as const;

/** The environment variable for each field of the service's configuration. */
export const SERVICE_VARIABLES = {
  ...SHARED_VARIABLES,
  host: "KEYROOT_HOST",
  port: "KEYROOT_PORT",
  monitoringPort: "KEYROOT_MONITORING_PORT",
  serviceUrl: "KEYROOT_SERVICE_URL",
  explorerUrl: "KEYROOT_EXPLORER_URL",
  blockExplorerUrl: "KEYROOT_BLOCK_EXPLORER_URL",
  stage: "KEYROOT_STAGE",
  signingKeys: "KEYROOT_SIGNING_KEYS",
  adminToken: "KEYROOT_ADMIN_TOKEN",
  shutdownDelay: "KEYROOT_SHUTDOWN_DELAY",
  holdPeriod: "KEYROOT_HOLD_PERIOD",
  rateLimit: "KEYROOT_RATE_LIMIT",
  trustedProxies: "KEYROOT_TRUSTED_PROXIES",
  webhookKeys: "KEYROOT_WEBHOOK_KEYS",
  webhooksPrivate: "KEYROOT_WEBHOOK_PRIVATE",
  auditDays: "KEYROOT_AUDIT_DAYS",
  addressDays: "KEYROOT_ADDRESS_DAYS",
  "registry.contract": "KEYROOT_CONTRACT",
  "registry.chainId": "KEYROOT_CHAIN_ID",
} as const;

/** The environment variable for each field of the publisher's configuration. */
export const PUBLISHER_VARIABLES = {
  ...SHARED_VARIABLES,
  "chain.rpcUrl": "KEYROOT_RPC_URL",
  "chain.secondRpcUrl": "KEYROOT_SECOND_RPC_URL",
  "chain.contract": "KEYROOT_CONTRACT",
  "chain.chainId": "KEYROOT_CHAIN_ID",
  "chain.allowHttp": "KEYROOT_ALLOW_HTTP",
  "chain.maxFee": "KEYROOT_MAX_FEE",
  "chain.maxPriorityFee": "KEYROOT_MAX_PRIORITY_FEE",
  "chain.maxCost": "KEYROOT_MAX_COST",
  "chain.maxCostPerDay": "KEYROOT_MAX_COST_PER_DAY",
  "chain.confirmations": "KEYROOT_CONFIRMATIONS",
  "chain.files": "KEYROOT_FILES",
} as const;

/** The variables that select the registry owner's key. Only the publisher and the operator's commands may have them. */
export const SIGNER_VARIABLES = [
  "KEYROOT_KEY_FILE",
  "KEYROOT_PASSPHRASE",
  "KEYROOT_PASSPHRASE_FILE",
  "KEYROOT_SIGNER_URL",
  "KEYROOT_SIGNER_ADDRESS",
] as const;
