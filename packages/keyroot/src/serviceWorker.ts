/**
 * The entry `keyroot/service-worker`, with the exports of all other entries except `keyroot/store/file`. Service
 * workers cannot load modules on demand, so the package contains all this code in one file
 * (scripts/package/packages.ts).
 */
export * from "./account.ts";
export * from "./auditors.ts";
export * from "./bundle.ts";
export * from "./index.ts";
export * from "./keyTypes.ts";
export * from "./lightClient.ts";
export * from "./merkle.ts";
export * from "./records.ts";
export * from "./safetyCode.ts";
export * from "./store/indexedDbStore.ts";
export * from "./store/keyValueStore.ts";
