import type { AddressInfo } from "node:net";
import { TransportError } from "../errors.ts";
import { makeApp } from "./app.ts";
import type { Config } from "./config.ts";
import { makeLogger } from "./log.ts";
import { publishPending } from "./publishing.ts";
import { makeService } from "./service.ts";
import { checkMigrations, openDatabases } from "./store/database.ts";
import { makeSigningKey, readSigningKeys, toSigningKeys } from "./tokens/signingKeys.ts";

/** A service that takes requests. */
export interface RunningService {
  /** `http://<address>:<port>`, without a slash at the end. */
  readonly url: string;
  /** Takes no more requests, answers those that are under way, and closes the databases. */
  close(): Promise<void>;
}

/**
 * Starts the service: opens its databases, checks that they have the tables that it needs (one in this process is given
 * them), and listens.
 * @throws ArgumentError CONFIGURATION_INVALID, SCHEMA_OUTDATED, DATABASE_LOCKED; TransportError PORT_UNAVAILABLE
 */
export async function startService(config: Config): Promise<RunningService> {
  await using starting = new AsyncDisposableStack();
  const signingKeys =
    config.signingKeys === undefined
      ? await toSigningKeys([await makeSigningKey()])
      : await readSigningKeys(config.signingKeys);
  const databases = starting.use(
    await openDatabases({
      url: config.databaseUrl,
      regionUrls: config.regionUrls,
      folder: config.databaseFolder,
      connections: config.connections,
    }),
  );
  if (config.databaseUrl === undefined) await databases.migrate();
  else await checkMigrations(databases);

  const { stage, bucketPrefix, rateLimit, adminToken, chain, trustedProxies } = config;
  const issuer = config.baseUrl ?? `urn:keyroot:${stage}`;
  const service = makeService({ databases, signingKeys, issuer, stage, bucketPrefix, rateLimit, adminToken });
  if (chain !== undefined) service.publish = () => publishPending(service.publicKeys, chain, service.now);
  const app = await makeApp(service, { logger: makeLogger(config.logLevel), trustedProxies });
  starting.defer(() => app.close());

  const { host, port } = config;
  try {
    await app.listen({ host, port });
  } catch (cause) {
    const message = `Cannot listen on ${host}, port ${port}: ${(cause as NodeJS.ErrnoException).code}.`;
    throw new TransportError("PORT_UNAVAILABLE", message, { cause });
  }
  const { address, family, port: bound } = app.server.address() as AddressInfo;
  const running = starting.move();
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${bound}`,
    close: () => running.disposeAsync(),
  };
}
