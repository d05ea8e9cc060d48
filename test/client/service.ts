import { makeApp } from "../../src/service/app.ts";
import { makeService } from "../../src/service/service.ts";
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
  close(): Promise<void>;
}

/** @param rateLimit requests a minute of one caller; 0 for any number */
export async function startTestService({ rateLimit = 0 } = {}): Promise<TestService> {
  await using starting = new AsyncDisposableStack();
  const databases = starting.use(await openDatabases({ url: undefined }));
  await databases.migrate();
  let ahead = 0;
  const service = makeService({
    databases,
    signingKeys: await toSigningKeys([await makeSigningKey()]),
    issuer: "urn:keyroot:test",
    stage: "test",
    bucketPrefix: "keyroot",
    rateLimit,
    adminToken: undefined,
    now: () => Date.now() + ahead,
  });
  const app = await makeApp(service);
  starting.defer(() => app.close());
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const running = starting.move();
  return {
    url,
    advance: (ms) => {
      ahead += ms;
    },
    async makePartner() {
      const now = service.now();
      const { bizID } = await service.partners.create("A company", now);
      const { token } = await service.refreshTokens.makeForServer(bizID, "a server", { now, idempotencyKey: undefined });
      return { bizId: bizID, serverToken: token };
    },
    close: () => running.disposeAsync(),
  };
}
