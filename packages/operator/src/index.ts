/**
 * The operator's API: `publish` publishes users' keys, `audit` checks a registry's whole history, `startService` runs the
 * partner service. The commands of `keyroot` and of the Hardhat plugin call the same functions.
 */
export * from "./publisher/index.ts";
export * from "./audit/index.ts";
export { type ChainConfig, readConfig, type RunningService, type Schedule } from "./service/index.ts";
export { type ServiceConfig, startService, type StartServiceOptions } from "./service/index.ts";
