import { makeApp } from "../../src/service/app.ts";
import { makeService, type Service } from "../../src/service/service.ts";
import { openDatabases } from "../../src/service/store/database.ts";
import { makeSigningKey, toSigningKeys } from "../../src/service/tokens/signingKeys.ts";

/** A partner that the service knows. */
export interface Partner {
  bizId: string;
  serverToken: string;
}

/** The real service, with a database in this process, listening. */
export interface TestService {
  readonly url: string;
  /** Lets its clock go this much ahead, in ms. */
  advance(ms: number): void;
  makePartner(): Promise<Partner>;
  /** Another process, as it were, over the same database, that lets each caller make so many requests a minute. */
  limitedReplica(rateLimit: number): Promise<{ url: string; close(): Promise<unknown> }>;
  close(): Promise<void>;
}

let shared: Promise<TestService> | undefined;

/** The one service of all test files, started when first asked for: its database takes seconds. */
export function sharedTestService(): Promise<TestService> {
  return (shared ??= startTestService());
}

// Outside of any describe: when all tests are done.
after(async () => (await shared)?.close());

export async function startTestService(): Promise<TestService> {
  await using starting = new AsyncDisposableStack();
  const databases = starting.use(await openDatabases({ url: undefined }));
  await databases.migrate();
  const signingKeys = await toSigningKeys([await makeSigningKey()]);
  let ahead = 0;
  const now = () => Date.now() + ahead;
  const issuer = "urn:keyroot:test";
  const common = { databases, signingKeys, issuer, stage: "test", bucketPrefix: "keyroot", adminToken: undefined, now };

  const listen = async (service: Service) => {
    const app = await makeApp(service);
    return { url: await app.listen({ host: "127.0.0.1", port: 0 }), close: () => app.close() };
  };
  const service = makeService({ ...common, rateLimit: 0 });
  const { url, close } = await listen(service);
  starting.defer(close);
  const running = starting.move();
  return {
    url,
    advance: (ms) => {
      ahead += ms;
    },
    async makePartner() {
      const { bizID } = await service.partners.create("A company", now());
      const making = { now: now(), idempotencyKey: undefined };
      const { token } = await service.refreshTokens.makeForServer(bizID, "a server", making);
      return { bizId: bizID, serverToken: token };
    },
    limitedReplica: (rateLimit) => listen(makeService({ ...common, rateLimit })),
    close: () => running.disposeAsync(),
  };
}
