/**
 * The partner service, sorted by subject. Each folder imports only from later folders (`test/layers.test.ts`):
 *
 * 1. `commands/`, `stack/` and `startService.ts` start the service. `config/` reads the service's environment
 * variables. `repeatedTasks.ts` deletes old data while the service runs. 2. `app/` is the HTTP server: authentication,
 * rate limits, logs and errors. `dashboard/` serves the dashboard. 3. Operations: each reads a request and calls one
 * store. Its file is beside the store of its subject. 4. Subjects: `webhooks/`, `staff/`, `publishing/` → `keys/` →
 * `users/` → `partners/` → `tokens/` → `auditLog/`, which records each change. 5. `tables.ts` of each subject, and
 * `database/`: connections, migrations and shared columns.
 */
export type { ChainOptions, Schedule, ServiceConfig } from "./config/config.ts";
export { readConfig } from "./config/readConfig.ts";
export type { AnswerOf, BodyOf, OperationPath } from "./serve/operations.ts";
export { generateOpenApi } from "./serve/generateOpenApi.ts";
export type { ChainConfig } from "./config/chainConfig.ts";
export { KeyPublisher } from "./publisher/keyPublisher.ts";
export { type RunningService, startService, type StartServiceOptions } from "./serve/startService.ts";
export { type Database, type Databases, openDatabases } from "./api/database/database.ts";
export { countPublishable, takePublishable } from "./publishing/takePublishable.ts";
export { publisherLeases } from "./publishing/tables.ts";
export { makeSigningKey } from "./tokens/signingKeys.ts";
