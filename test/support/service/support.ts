import { randomBytes } from "node:crypto";
import { makeApp } from "../../../packages/operator/src/service/app.ts";
import { makeContext, type ServiceContext } from "../../../packages/operator/src/service/http/context.ts";
import type { App } from "../../../packages/operator/src/service/http/defineOperation.ts";
import {
  type DatabaseOptions,
  type Databases,
  openDatabases,
} from "../../../packages/operator/src/service/store/database.ts";
import {
  makeSigningKey,
  type SigningKeys,
  toSigningKeys,
} from "../../../packages/operator/src/service/tokens/signingKeys.ts";
import { sharedPostgres } from "../../../fixtures/postgres/shared.ts";
import { Caller } from "./caller.ts";

export const ISSUER = "https://service.test";
const STAGE = "test";
const BUCKET_PREFIX = "keyroot";
/** The operator's, of every service of this run. */
export const ADMIN_TOKEN = randomBytes(32).toString("base64url");
/** The signing key of every service that is not given another. */
export const SIGNING_JWK = await makeSigningKey();

export interface TestServiceOptions {
  signingKeys?: SigningKeys;
  rateLimit?: number;
  trustedProxies?: string[];
  publish?: ServiceContext["publish"];
}

/** A service that takes real HTTP requests, with its insides for tests that must see them. */
export class TestService extends Caller {
  /** Its time is so many milliseconds ahead of the machine's. */
  ahead = 0;
  #running: { app: App; context: ServiceContext } | undefined;

  constructor() {
    super(ADMIN_TOKEN);
  }

  get context(): ServiceContext {
    if (this.#running === undefined) throw new Error("The service is not started yet.");
    return this.#running.context;
  }

  get databases(): Databases {
    return this.context.databases;
  }

  /** Listens, over databases that stay open when it closes. */
  async start(databases: Databases, options: TestServiceOptions = {}): Promise<this> {
    const { signingKeys, rateLimit = 0, trustedProxies = [], publish = nothingToPublish } = options;
    const context = makeContext({
      databases,
      signingKeys: signingKeys ?? (await toSigningKeys([SIGNING_JWK])),
      issuer: ISSUER,
      stage: STAGE,
      bucketPrefix: BUCKET_PREFIX,
      rateLimit,
      adminToken: ADMIN_TOKEN,
      publish,
      now: () => Date.now() + this.ahead,
    });
    const app = await makeApp(context, { trustedProxies });
    this.#running = { app, context };
    this.url = await app.listen({ host: "127.0.0.1", port: 0 });
    return this;
  }

  async close(): Promise<void> {
    await this.#running?.app.close();
  }
}

/** The API without a database behind it, for what it tells of itself. */
export async function unconnectedApp(): Promise<App> {
  const databases = await openDatabases({ url: "postgres://127.0.0.1:1/none" });
  const signingKeys = await toSigningKeys([SIGNING_JWK]);
  const naming = { issuer: ISSUER, stage: STAGE, bucketPrefix: BUCKET_PREFIX };
  return makeApp(makeContext({ databases, signingKeys, ...naming, rateLimit: 0, adminToken: undefined }));
}

/** Opens an empty database of the run's PostgreSQL, with all tables; regions may have one of their own. */
export async function freshDatabases(options: Partial<DatabaseOptions> = {}): Promise<Databases> {
  const url = await freshDatabaseUrl();
  const databases = await openDatabases({ url, ...options });
  await databases.migrate();
  return databases;
}

/** The address of an empty database of the run's PostgreSQL, without a table. */
export async function freshDatabaseUrl(): Promise<string> {
  return (await sharedPostgres()).createDatabase();
}

/** Gives the tests of the surrounding `describe` a service over an empty PostgreSQL. */
export function serviceOnPostgres(options: TestServiceOptions = {}): TestService {
  return serviceOver(freshDatabases, options);
}

/** The same claims, with a service over the database in this process and with one over PostgreSQL. */
export function describeOnEachDatabase(what: string, body: (service: TestService) => void): void {
  describe(`${what}, on PGlite`, () => {
    body(serviceOver(databaseInProcess, {}));
  });
  describe(`${what}, on PostgreSQL`, () => {
    body(serviceOnPostgres());
  });
}

let inProcess: Promise<Databases> | undefined;

/** The one database in this process: it takes 2 s to start and much memory, and its partners never meet. */
function databaseInProcess(): Promise<Databases> {
  inProcess ??= (async () => {
    const databases = await openDatabases({ url: undefined });
    await databases.migrate();
    return databases;
  })();
  return inProcess;
}

function serviceOver(open: () => Promise<Databases>, options: TestServiceOptions): TestService {
  const service = new TestService();
  before(async () => {
    await service.start(await open(), options);
  });
  afterEach(() => {
    service.ahead = 0;
  });
  after(async () => {
    await service.close();
    if (service.databases !== (await inProcess)) await service.databases[Symbol.asyncDispose]();
  });
  return service;
}

// The real publishing is the story's and the publisher's tests' to check.
function nothingToPublish() {
  return Promise.resolve([]);
}

// Outside of every describe: after the last test of the run.
after("PGlite closes", async () => {
  await (await inProcess)?.[Symbol.asyncDispose]();
});
