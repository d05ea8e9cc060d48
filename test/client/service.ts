import { sharedPostgres } from "../postgres/shared.ts";
import { makeApp } from "../../src/service/app.ts";
import { makeService, type Service } from "../../src/service/service.ts";
import { openDatabases } from "../../src/service/store/database.ts";
import { makeSigningKey, toSigningKeys } from "../../src/service/tokens/signingKeys.ts";

/** A partner that the service knows. */
export interface Partner {
  bizId: string;
  serverToken: string;
}

/** The real service, with a database of its own in the tests' PostgreSQL, listening. */
export interface TestService {
  readonly url: string;
  /** Lets its clock go this much ahead, in ms. */
  advance(ms: number): void;
  makePartner(): Promise<Partner>;
  /** Another process, as it were, over the same database, that lets each caller make so many requests a minute. */
  limitedReplica(rateLimit: number): Promise<{ url: string; close(): Promise<unknown> }>;
  close(): Promise<void>;
}

/** Starts it; as many may run as there are test files. */
export async function startTestService(): Promise<TestService> {
  await using starting = new AsyncDisposableStack();
  const url = await (await sharedPostgres()).createDatabase();
  const databases = starting.use(await openDatabases({ url }));
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
  const listening = await listen(service);
  starting.defer(() => listening.close());
  const running = starting.move();
  return {
    url: listening.url,
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
