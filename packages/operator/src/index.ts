/**
 * The operator's API: `publish` publishes users' keys, `audit` checks the whole history of a registry, and `watch`
 * reports new roots. The program `keyroot` and the Hardhat plugin call the same functions.
 */
export * from "./audit.ts";
export * from "./publisher/index.ts";
