import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeApp } from "../../../packages/service/src/serve/app.ts";
import { type ContextOptions, makeContext, type ServiceContext } from "../../../packages/service/src/serve/context.ts";
import type { RateLimitOptions } from "../../../packages/service/src/api/limits/rateLimits.ts";
import { makeLogger } from "../../../packages/service/src/api/logger.ts";
import { makeMonitoring } from "../../../packages/service/src/api/monitoring.ts";
import type { App } from "../../../packages/service/src/api/defineOperation.ts";
import {
  type DatabaseOptions,
  type Databases,
  openDatabases,
} from "../../../packages/service/src/api/database/database.ts";
import { PublicationStore } from "../../../packages/service/src/publishing/publications.ts";
import { makeSigningKey, toSigningKeys } from "../../../packages/service/src/tokens/signingKeys.ts";
import { WebhookKeys } from "../../../packages/service/src/webhooks/webhookKeys.ts";
import { testAll } from "../testSize.ts";
import { sharedPostgres } from "../postgres/sharedPostgres.ts";
import { answerPublishRequests, type TestPublish } from "./answerPublishRequests.ts";
import { Caller } from "./caller.ts";

export const ISSUER = "https://service.test";
const NO_LIMITS = { caller: 0, address: 0, refused: 0 };
/** The admin token of every service in this run. */
export const ADMIN_TOKEN = randomBytes(32).toString("base64url");
/** The keys of webhook secrets of every service in this run. */
export const WEBHOOK_KEYS = new WebhookKeys([randomBytes(32)]);
/** The default signing key of services. */
export const SIGNING_JWK = await makeSigningKey();
const DEFAULTS = {
  ...{ signingKeys: await toSigningKeys([SIGNING_JWK]), issuer: ISSUER, stage: "test" },
  ...{ rateLimits: NO_LIMITS, holdPeriodMs: 0 },
};

/**
 * Returns environment variables for a service without rate limits, at any free ports.
 * @param folder receives the file of the signing key
 */
export async function serviceVariables(folder: string): Promise<Record<string, string>> {
  const keys = join(folder, "keys.json");
  await writeFile(keys, JSON.stringify({ keys: [SIGNING_JWK] }), { mode: 0o600 });
  return {
    ...{ KEYROOT_SIGNING_KEYS: keys, KEYROOT_SERVICE_URL: ISSUER, KEYROOT_ADMIN_TOKEN: ADMIN_TOKEN },
    ...{ KEYROOT_RATE_LIMIT: "0", KEYROOT_MONITORING_PORT: "0", KEYROOT_PORT: "0" },
  };
}

/** Changes of the default options, with which no keys are published and no host name of a webhook is public. */
export interface TestServiceOptions extends Partial<Omit<ContextOptions, "databases" | "rateLimits" | "now">> {
  rateLimits?: Partial<RateLimitOptions>;
  /** Answers requests to publish. By default, nothing is published. */
  publish?: TestPublish;
  trustedProxies?: string[];
  recordAddresses?: boolean;
  /** Gets the lines of the log. */
  log?: string[];
}

/** A service that accepts HTTP requests. Tests can also access its context. */
export class TestService extends Caller {
  /** Time in ms by which the service's clock is ahead. */
  ahead = 0;
  #stopped: number | undefined;
  #running: { app: App; monitoring: App; context: ServiceContext } | undefined;

  constructor() {
    super(ADMIN_TOKEN);
  }

  get context(): ServiceContext {
    if (this.#running === undefined) throw new Error("Start the service first.");
    return this.#running.context;
  }

  get databases(): Databases {
    return this.context.databases;
  }

  /** Publishes keys without a chain. */
  get publications(): PublicationStore {
    return new PublicationStore(this.databases);
  }

  /** Returns the service's time, in ms since 1970. */
  now(): number {
    return (this.#stopped ?? Date.now()) + this.ahead;
  }

  /** Stops the service's clock until the end of the test. Only `ahead` then changes its time. */
  stopClock(): void {
    this.#stopped = Date.now();
  }

  /** Starts the service's clock again, with the time of this machine. */
  resetClock(): void {
    this.ahead = 0;
    this.#stopped = undefined;
  }

  /** Starts the service. `close` does not close these databases. */
  async start(databases: Databases, options: TestServiceOptions = {}): Promise<this> {
    const {
      rateLimits,
      trustedProxies = [],
      recordAddresses = true,
      log,
      publish = publishNothing,
      ...changes
    } = options;
    const context = makeContext({
      ...{ ...DEFAULTS, adminToken: ADMIN_TOKEN, webhookKeys: WEBHOOK_KEYS },
      webhooks: { resolve: resolveLocally },
      ...changes,
      databases,
      rateLimits: { ...NO_LIMITS, ...rateLimits },
      now: () => this.now(),
    });
    if (options.publish !== undefined || options.registry !== undefined) answerPublishRequests(context, publish);
    const { app: monitoring, observe } = makeMonitoring({ databases, rateLimit: 0 });
    const logger = log && makeLogger("info", { write: (line: string) => void log.push(line) });
    const app = await makeApp(context, { trustedProxies, recordAddresses, observe, ...(logger && { logger }) });
    this.#running = { app, monitoring, context };
    this.url = await app.listen({ host: "127.0.0.1", port: 0 });
    this.monitoringUrl = await monitoring.listen({ host: "127.0.0.1", port: 0 });
    return this;
  }

  async close(): Promise<void> {
    await this.#running?.app.close();
    await this.#running?.monitoring.close();
  }
}

/** The app without a database, for its OpenAPI documents. */
export async function unconnectedApp(): Promise<App> {
  const databases = await openDatabases({ url: "postgres://127.0.0.1:1/none" });
  return makeApp(makeContext({ ...DEFAULTS, databases, adminToken: undefined }));
}

let migrated: Promise<string> | undefined;

/** Creates a database in the run's PostgreSQL with all tables, and returns its URL. */
export async function migratedDatabaseUrl(): Promise<string> {
  // Copying a database takes a third of the processor time of its migration.
  migrated ??= createMigratedDatabase();
  return (await sharedPostgres()).createDatabase(await migrated);
}

/** Opens a new database with all tables. */
export async function freshDatabases(): Promise<Databases> {
  return openDatabases({ url: await migratedDatabaseUrl() });
}

/** Opens a new database with all tables for each region, and one for the rest. */
async function freshRegionDatabases(): Promise<Databases> {
  const regionUrls = { "us-west-2": await migratedDatabaseUrl(), "eu-west-1": await migratedDatabaseUrl() };
  return openDatabases({ url: await migratedDatabaseUrl(), regionUrls });
}

async function createMigratedDatabase(): Promise<string> {
  const url = await freshDatabaseUrl();
  await using databases = await openDatabases({ url });
  await databases.migrate();
  return url;
}

/** Creates a database in the run's PostgreSQL without tables, and returns its URL. */
export async function freshDatabaseUrl(): Promise<string> {
  return (await sharedPostgres()).createDatabase();
}

/** A service over a new PostgreSQL database, for the tests of the surrounding `describe`. */
export function serviceOnPostgres(options: TestServiceOptions = {}): TestService {
  return serviceOver(freshDatabases, options);
}

/** A service with a new PostgreSQL database for each region, for the tests of the surrounding `describe`. */
export function serviceWithRegions(): TestService {
  return serviceOver(freshRegionDatabases, {});
}

/**
 * Starts two replicas of a service for the tests of the surrounding `describe`. Each has its own connections to the
 * same new databases, like a separate process.
 */
export function twoReplicas(
  options: TestServiceOptions = {},
  createDatabases: () => Promise<DatabaseOptions> = async () => ({ url: await migratedDatabaseUrl() }),
): readonly [TestService, TestService] {
  const closing = new AsyncDisposableStack();
  const replicas = [new TestService(), new TestService()] as const;
  before(async () => {
    const created = await createDatabases();
    for (const replica of replicas) {
      await replica.start(closing.use(await openDatabases(created)), options);
      closing.defer(() => replica.close());
    }
  });
  after(() => closing.disposeAsync());
  return replicas;
}

/** Describes tests that run over PostgreSQL, and in `npm run test:all` also over PGlite. */
export function describeOnEachDatabase(
  what: string,
  body: (service: TestService) => void,
  options: TestServiceOptions = {},
): void {
  if (testAll)
    describe(`${what}, on PGlite`, () => {
      body(serviceOver(sharedPGlite, options));
    });
  describe(`${what}, on PostgreSQL`, () => {
    body(serviceOnPostgres(options));
  });
}

let pglite: Promise<Databases> | undefined;

/** One PGlite for all tests, because it takes 2 s and 600 MB. Each test creates its own partners. */
function sharedPGlite(): Promise<Databases> {
  pglite ??= (async () => {
    const databases = await openDatabases({ url: undefined });
    await databases.migrate();
    return databases;
  })();
  return pglite;
}

function serviceOver(open: () => Promise<Databases>, options: TestServiceOptions): TestService {
  const service = new TestService();
  before(async () => {
    await service.start(await open(), options);
  });
  afterEach(() => {
    service.resetClock();
  });
  after(async () => {
    await service.close();
    if (service.databases !== (await pglite)) await service.databases[Symbol.asyncDispose]();
  });
  return service;
}

/** No test sends webhooks to other machines. */
function resolveLocally() {
  return Promise.resolve(["127.0.0.1"]);
}

/** Publishing has its own tests. */
function publishNothing() {
  return Promise.resolve([]);
}

// Outside every describe: runs after the last test.
after("PGlite closes", async () => {
  await (await pglite)?.[Symbol.asyncDispose]();
});
