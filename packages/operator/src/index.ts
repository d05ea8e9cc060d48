/**
 * The operator's API: `publish` publishes users' keys, `audit` checks a registry's whole history, and `watch` reports
 * new roots. The commands of `keyroot` and of the Hardhat plugin call the same functions.
 */
export * from "./audit.ts";
export * from "./publisher/index.ts";
