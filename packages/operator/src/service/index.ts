/**
 * The partner service. A request passes these folders in this order, and never returns to an earlier one:
 *
 * `startService.ts`, `app.ts` (HTTP server) → `dashboard/` (the page and its calls) or `routes/` (one function per API path) →
 * `http/` (authentication, rate limit, schemas, errors) → `publishing/` (only `/v1/admin/publish` and the schedule) →
 * `registration/` (only of public keys) → `webhooks/` (checks endpoints and delivers events) →
 * `store/` (SQL) → `tokens/` (cryptography).
 */
export type { ChainOptions, ServiceConfig } from "./config.ts";
export { readConfig } from "./readConfig.ts";
export { generateOpenApi } from "./generateOpenApi.ts";
export { type ChainConfig, KeyPublisher } from "./publishing/keyPublisher.ts";
export { type Schedule } from "./publishing/schedule.ts";
export { type RunningService, startService, type StartServiceOptions } from "./startService.ts";
export { type Database, type Databases, openDatabases } from "./store/database.ts";
export { PublicKeyStore } from "./store/publicKeys.ts";
export { publisherLeases } from "./store/tables.ts";
export { makeSigningKey } from "./tokens/signingKeys.ts";
