import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyBaseLogger } from "fastify";
import { checkAllBuiltins } from "keyroot/internal/input";
import { Cleanup } from "./cleanup.ts";
import { openSigner, type Signer } from "@keyroot/operator/publisher";
import { onFreePort } from "@keyroot/operator/shared";
import { TransportError } from "./errors.ts";
import { makeApp } from "./app/app.ts";
import { limitsOf, rateLimitsOf, resolveConfig, type ResolvedConfig, type ServiceConfig } from "./config/config.ts";
import { refuseReuse } from "./app/baseApp.ts";
import { makeContext, type ServiceContext } from "./app/context.ts";
import type { App } from "./app/defineOperation.ts";
import { makeLogger } from "./app/logger.ts";
import { makeMonitoring, type Monitoring } from "./app/monitoring.ts";
import { KeyPublisher } from "./publishing/keyPublisher.ts";
import { readConfig } from "./config/readConfig.ts";
import { checkMigrations, openDatabases } from "./database/database.ts";
import { makeSigningKey, readSigningKeys, toSigningKeys } from "./tokens/signingKeys.ts";
import { WebhookKeys } from "./webhooks/webhookKeys.ts";
import { VARIABLES } from "./config/variables.ts";
import { dropTasks, every, publisherTasks } from "./repeatedTasks.ts";
import { DeliveryWorker } from "./webhooks/deliveryWorker.ts";

/** Assumed interval of publications by the operator's command, in seconds. */
const DAY_SECONDS = 24 * 60 * 60;
/** Maximum time until the blocks of a publication are final on any chain, in seconds. */
const BATCH_SECONDS = 60 * 60;

/** A running service. */
export interface RunningService {
  /** The service's URL, `http://<address>:<port>`, without a trailing slash. */
  readonly url: string;
  /**
   * The base URL of /healthz, /readyz and /metrics, without a trailing slash. Undefined if the service has no
   * monitoring port.
   */
  readonly monitoringUrl: string | undefined;
  /**
   * Stops the service. /readyz first responds with 503 for `shutdownDelay` seconds. Then the service accepts no more
   * requests, finishes the requests in progress, and closes the databases.
   */
  close(): Promise<void>;
}

/** Options of `startService`: the configuration and a signer. */
export interface StartServiceOptions extends ServiceConfig {
  /**
   * Signs publishing transactions as the registry's owner. Default: the signer that the environment variables configure
   * (`openSigner`). Without these variables, the chain's endpoint signs the transactions.
   */
  signer?: Signer | undefined;
  /** Whether each region has a separate database in memory, for a local stack. Default: false. */
  separateRegions?: boolean | undefined;
  /** Whether the service uses the next free port if its port is in use, for a local stack. Default: false. */
  nextFreePort?: boolean | undefined;
}

/**
 * Starts the partner service. Opens the databases, checks the databases' tables, and starts to listen. In PGlite, also
 * creates the tables.
 * @param options the configuration. Default: `readConfig(process.env)`
 * @throws ArgumentError CONFIGURATION_INVALID, SCHEMA_OUTDATED, DATABASE_LOCKED; TransportError PORT_UNAVAILABLE
 * @example
 * ```ts
 * import { startService } from "@keyroot/service";
 *
 * const service = await startService({ adminToken: process.env.ADMIN_TOKEN, port: 0, databaseFolder: null });
 * console.log(service.url);
 * await service.close();
 * ```
 */
export async function startService(options: StartServiceOptions = readConfig(process.env)): Promise<RunningService> {
  checkAllBuiltins();
  const { signer, separateRegions, nextFreePort = false, ...fields } = options;
  const config = resolveConfig(fields);
  const { stage, bucketPrefix, adminToken, chain, schedule, trustedProxies } = config;

  await using starting = new Cleanup();
  const signingKeys =
    config.signingKeys === undefined
      ? await toSigningKeys([await makeSigningKey()])
      : await readSigningKeys(config.signingKeys);
  const webhookKeys = await webhookKeysOf(config);
  const databases = starting.use(
    await openDatabases({
      url: config.databaseUrl,
      regionUrls: config.regionUrls,
      folder: config.databaseFolder,
      separateRegions,
      connections: config.connections,
    }),
  );
  if (config.databaseUrl === undefined) await databases.migrate();
  await checkMigrations(databases);

  const logger = makeLogger(config.logLevel);
  const publisher =
    chain &&
    new KeyPublisher(databases, { ...chain, limits: limitsOf(chain) }, signer ?? (await openSigner(process.env)), {
      holdOnConflict: config.holdOnConflict,
      onDifference: (difference, err) => {
        const isKey = difference.code === "KEY_DIFFERS";
        const problem = isKey ? "another key is published for a user" : "a published root is not confirmed";
        logger.error({ ...difference, err }, problem);
      },
      onRegionFailed: (region, err) => {
        logger.error({ region, err }, "publishing a region's keys failed");
      },
    });
  if (publisher !== undefined)
    for (const task of publisherTasks(publisher, schedule, logger)) starting.defer(every(task, logger));

  const context = makeContext({
    databases,
    signingKeys,
    issuer: config.serviceUrl ?? `urn:keyroot:${stage}`,
    serviceUrl: config.serviceUrl,
    explorerUrl: config.explorerUrl,
    blockExplorerUrl: config.blockExplorerUrl,
    registry: chain && { chainId: chain.chainId, contract: chain.contract },
    possession: config.possession,
    holdPeriodMs: config.holdPeriod * 1000,
    holdOnConflict: config.holdOnConflict,
    stage,
    bucketPrefix,
    rateLimits: rateLimitsOf(config),
    adminToken,
    eventDays: config.eventDays,
    webhookKeys,
    webhooks: { allowPrivate: config.webhooksPrivate },
    publish: publisher && ((author) => publisher.publish(author)),
    publishing: publisher && (() => publisher.status()),
  });
  const { webhookEndpoints, webhookDeliveries } = context;
  await webhookEndpoints.checkKeys();
  for (const task of dropTasks(context, config)) starting.defer(every(task, logger));

  // Monitoring closes after the API, so that /readyz can report that the service is stopping.
  const countPending = (limit: number) => webhookDeliveries.countPending(limit);
  const monitoring = makeMonitoring({
    ...{ databases, logger, rateLimit: config.rateLimit },
    ...{ countPending, publisher, overdueAfter: (schedule?.every ?? DAY_SECONDS) + BATCH_SECONDS },
  });
  starting.defer(() => monitoring.app.close());
  if (webhookEndpoints.enabled) starting.defer(deliverInBackground(context, monitoring, logger));
  const app = await makeApp(context, { logger, trustedProxies, observe: monitoring.observe });
  starting.defer(() => app.close());

  const { monitoringHost, monitoringPort } = config;
  const monitoringUrl =
    monitoringPort === null
      ? undefined
      : await listen(monitoring.app, monitoringHost, monitoringPort, VARIABLES.monitoringPort);
  const url = nextFreePort
    ? await onFreePort(config, (port) => bind(app, config.host, port))
    : await listen(app, config.host, config.port, VARIABLES.port);
  const running = starting.move();
  let closed: Promise<void> | undefined;
  const close = async () => {
    monitoring.stop();
    refuseReuse(app);
    await sleep(config.shutdownDelay * 1000);
    await running[Symbol.asyncDispose]();
  };
  return { url, monitoringUrl, close: () => (closed ??= close()) };
}

/**
 * @param variable the environment variable that sets the port
 * @returns the URL
 * @throws TransportError PORT_UNAVAILABLE
 */
async function listen(app: App, host: string, port: number, variable: string): Promise<string> {
  try {
    return await bind(app, host, port);
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code;
    const message = `Cannot listen on ${host}, port ${port} (${reason}). Stop the other program, or set ${variable} to another port.`;
    throw new TransportError("PORT_UNAVAILABLE", message, { cause });
  }
}

/** @returns the URL */
async function bind(app: App, host: string, port: number): Promise<string> {
  await app.listen({ host, port });
  const { address, family, port: bound } = app.server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${bound}`;
}

/**
 * Reads or makes the keys for webhook secrets. A database in memory gets a new key, because both end with the process.
 */
async function webhookKeysOf({ webhookKeys, databaseUrl, databaseFolder }: ResolvedConfig) {
  if (webhookKeys !== undefined) return WebhookKeys.read(webhookKeys);
  return databaseUrl === undefined && databaseFolder === null ? new WebhookKeys([randomBytes(32)]) : undefined;
}

/** @returns a function that stops deliveries after the requests in progress */
function deliverInBackground(
  { webhookEndpoints: endpoints, webhookDeliveries: deliveries, webhookSender: sender, now }: ServiceContext,
  { observeDelivery: onAttempt }: Monitoring,
  logger: FastifyBaseLogger,
): () => Promise<void> {
  const worker = new DeliveryWorker({ endpoints, deliveries, sender, logger, now, onAttempt });
  const ended = worker.run();
  return async () => {
    await worker.stop();
    await ended;
    sender[Symbol.dispose]();
  };
}
