export { readConfig } from "./config.ts";
export { openApiDescription } from "./describe.ts";
export { type Schedule } from "./publishing/schedule.ts";
export { startService } from "./server.ts";
export { type Database, openDatabases } from "./store/database.ts";
export { PublicKeyStore } from "./store/publicKeys.ts";
export { publisherLeases } from "./store/tables.ts";
export { makeSigningKey } from "./tokens/signingKeys.ts";
