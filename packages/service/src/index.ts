/**
 * The partner service, which answers HTTP requests and holds no key of the registry's owner. Publishing is in
 * `@keyroot/service/publisher`. Each folder imports only from folders after it (`test/layers.test.ts`):
 *
 * 1. `commands/` and `stack/` start processes.
 * 2. `serve/` puts the service together, and `publisher/` the publisher.
 * 3. `config/` reads their environment variables.
 * 4. Each subject has its own tables, queries and operations: `webhooks/`, `staff/`, `publishing/`, `accounts/`,
 *    `keys/`, `tokens/`, `users/`, `partners/`, `auditLog/`.
 * 5. `api/` is what they all build on: how an operation is defined, authentication, errors, limits and databases.
 *
 * Times, such as `now` and `created`, are in milliseconds since 1970 unless stated otherwise.
 */
export type { ServiceConfig } from "./config/serviceConfig.ts";
export { readConfig } from "./config/readConfig.ts";
export type { AnswerOf, BodyOf, OperationPath } from "./serve/operations.ts";
export { generateOpenApi } from "./serve/generateOpenApi.ts";
export { type RunningService, startService, type StartServiceOptions } from "./serve/startService.ts";
export { type Database, type Databases, openDatabases } from "./api/database/database.ts";
export { countPublishable, takePublishable } from "./publishing/takePublishable.ts";
export { publisherLeases } from "./publishing/tables.ts";
export { makeSigningKey } from "./tokens/signingKeys.ts";
