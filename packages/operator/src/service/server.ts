import type { AddressInfo } from "node:net";
import type { FastifyBaseLogger } from "fastify";
import { ArgumentError, TransportError } from "keyroot/errors";
import { makeApp } from "./app.ts";
import type { Config } from "./config.ts";
import { makeLogger } from "./log.ts";
import { openSigner } from "../publisher/signers/openSigner.ts";
import { KeyPublisher } from "./publishing/publishRegistered.ts";
import { publishBySchedule, type Schedule } from "./publishing/schedule.ts";
import { makeService } from "./service.ts";
import { checkMigrations, openDatabases } from "./store/database.ts";
import { makeSigningKey, readSigningKeys, toSigningKeys } from "./tokens/signingKeys.ts";

/** How often sealed copies of tokens that are a day old are dropped: every hour. */
const DROP_SEALED_MS = 60 * 60 * 1000;

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
 * @param schedule when to publish what users register; undefined for on command only
 * @throws ArgumentError CONFIGURATION_INVALID, SCHEMA_OUTDATED, DATABASE_LOCKED; TransportError PORT_UNAVAILABLE
 */
export async function startService(config: Config, schedule?: Schedule): Promise<RunningService> {
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
  const logger = makeLogger(config.logLevel);
  const issuer = config.baseUrl ?? `urn:keyroot:${stage}`;
  const service = makeService({ databases, signingKeys, issuer, stage, bucketPrefix, rateLimit, adminToken });
  if (chain !== undefined) {
    const publisher = new KeyPublisher(service, chain, await openSigner(process.env));
    service.publish = () => publisher.publishPending();
    if (schedule !== undefined) starting.defer(publishInBackground(publisher, schedule, logger));
  } else if (schedule !== undefined) {
    const message = "The service has no chain to publish on: set KEYROOT_RPC_URL, KEYROOT_CONTRACT and KEYROOT_FILES.";
    throw new ArgumentError("CONFIGURATION_INVALID", message);
  }
  const dropping = setInterval(() => {
    service.refreshTokens.dropSealed(service.now()).catch((err: unknown) => {
      logger.error({ err }, "sealed tokens were not dropped");
    });
  }, DROP_SEALED_MS);
  starting.defer(() => {
    clearInterval(dropping);
  });
  const app = await makeApp(service, { logger, trustedProxies });
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

/** @returns ends it, once a round under way is through */
function publishInBackground(
  publisher: KeyPublisher,
  schedule: Schedule,
  logger: FastifyBaseLogger,
): () => Promise<void> {
  const stopping = new AbortController();
  const ended = publishBySchedule(
    schedule,
    {
      waiting: () => publisher.waiting(),
      publish: async () => {
        for (const batch of await publisher.publishPending()) logger.info(batch, "published");
      },
      failed: (err) => {
        logger.error({ err }, "publishing failed");
      },
    },
    stopping.signal,
  );
  return () => {
    stopping.abort();
    return ended;
  };
}
