/** The service as a process that test/service/keyroot.ts starts: without a limit of rate, and without a log. */
import type { AddressInfo } from "node:net";
import { makeApp } from "../../src/service/app.ts";
import { makeService } from "../../src/service/service.ts";
import { openDatabases } from "../../src/service/store/database.ts";
import { toSigningKeys } from "../../src/service/tokens/signingKeys.ts";
import { firstOrder } from "./child.ts";

/** What the parent sends first. */
export interface KeyrootOrder {
  databaseUrl: string;
  connections: number;
  adminToken: string;
  /** The private key that signs access tokens, as a JWK. */
  signingKey: object;
}

/** What it is told then. */
export interface KeyrootReady {
  origin: string;
}

const { databaseUrl, connections, adminToken, signingKey } = await firstOrder<KeyrootOrder>();
const databases = await openDatabases({ url: databaseUrl, connections });
await databases.migrate();
const service = makeService({
  databases,
  signingKeys: await toSigningKeys([signingKey]),
  issuer: "https://keyroot.example",
  stage: "bench",
  bucketPrefix: "keyroot",
  rateLimit: 0,
  adminToken,
});
const app = await makeApp(service);
await app.listen({ host: "127.0.0.1", port: 0 });
const ready: KeyrootReady = { origin: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}` };
process.send?.(ready);
