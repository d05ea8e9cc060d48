import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyBaseLogger } from "fastify";
import { checkAllBuiltins } from "keyroot/internal/input";
import { loadKeyType } from "keyroot/internal/keyTypes";
import { onFreePort } from "@keyroot/operator/shared";
import { Cleanup } from "../api/base/cleanup.ts";
import { TransportError } from "../api/base/errors.ts";
import { makeApp } from "./app.ts";
import { requireKeyType } from "../publishing/registryKeyType.ts";
import { rateLimitsOf, resolveConfig, type ResolvedConfig, type ServiceConfig } from "../config/serviceConfig.ts";
import { refuseReuse } from "../api/baseApp.ts";
import { makeContext, type ServiceContext } from "./context.ts";
import type { App } from "../api/defineOperation.ts";
import { makeLogger } from "../api/logger.ts";
import { makeMonitoring } from "../api/monitoring.ts";
import { readConfig } from "../config/readConfig.ts";
import { checkMigrations, type Databases, openDatabases } from "../api/database/database.ts";
import { makeSigningKey, readSigningKeys, toSigningKeys } from "../tokens/signingKeys.ts";
import { WebhookKeys } from "../webhooks/webhookKeys.ts";
import { SERVICE_VARIABLES } from "../config/variables.ts";
import { every } from "../api/base/repeatedTasks.ts";
import { dropTasks } from "./dropTasks.ts";
import { observePublisher } from "./publisherMetrics.ts";
import { DeliveryWorker } from "../webhooks/deliveryWorker.ts";

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

/** Options of `startService`: the configuration and open databases. */
export interface StartServiceOptions extends ServiceConfig {
  /** Open databases with all tables, which `close` leaves open. Default: the service opens the configured databases. */
  databases?: Databases | undefined;
  /** Whether the service uses the next free port if its port is in use, for a local stack. Default: false. */
  nextFreePort?: boolean | undefined;
}

/**
 * Starts the partner service: opens the databases, checks their tables, and listens. In PGlite, the tables are created
 * first.
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
  const { databases: opened, nextFreePort = false, ...fields } = options;
  const config = resolveConfig(fields);
  const { databaseUrl: url, regionUrls, databaseFolder: folder, connections, trustedProxies } = config;

  await using starting = new Cleanup();
  const signingKeys =
    config.signingKeys === undefined
      ? await toSigningKeys([await makeSigningKey()])
      : await readSigningKeys(config.signingKeys);
  const webhookKeys = await webhookKeysOf(config);
  const databases = opened ?? starting.use(await openDatabases({ url, regionUrls, folder, connections }));
  if (opened === undefined && url === undefined) await databases.migrate();
  await checkMigrations(databases);
  await requireKeyType(databases, config.keyType);

  const logger = makeLogger(config.logLevel);
  const context = makeContext({
    ...{ ...config, databases, signingKeys, webhookKeys },
    issuer: config.serviceUrl ?? `urn:keyroot:${config.stage}`,
    keyType: await loadKeyType(config.keyType),
    holdPeriodMs: config.holdPeriod * 1000,
    rateLimits: rateLimitsOf(config),
    webhooks: { allowPrivate: config.webhooksPrivate },
  });
  const { webhookEndpoints, webhookDeliveries, publisher } = context;
  await webhookEndpoints.checkKeys();
  for (const task of dropTasks(context, config)) starting.defer(every(task, logger));

  // Monitoring closes after the API, so that /readyz can report that the service is stopping.
  const countPending = (limit: number) => webhookDeliveries.countPending(limit);
  const monitoring = makeMonitoring({
    ...{ databases, logger, rateLimit: config.rateLimit },
    countPending,
    addMetrics: (metrics) => {
      if (publisher !== undefined) observePublisher(metrics, publisher);
    },
  });
  starting.defer(() => monitoring.app.close());
  if (webhookEndpoints.enabled) starting.defer(deliverInBackground(context, monitoring, logger));
  const app = await makeApp(context, {
    ...{ logger, trustedProxies, observe: monitoring.observe },
    recordAddresses: config.addressDays > 0,
  });
  starting.defer(() => app.close());

  const { monitoringPort } = config;
  const monitoringUrl =
    monitoringPort === null
      ? undefined
      : await listen(monitoring.app, config.host, monitoringPort, SERVICE_VARIABLES.monitoringPort);
  const listening = nextFreePort
    ? await onFreePort(config, (port) => bind(app, config.host, port))
    : await listen(app, config.host, config.port, SERVICE_VARIABLES.port);
  const running = starting.move();
  let closed: Promise<void> | undefined;
  const close = async () => {
    monitoring.stop();
    refuseReuse(app);
    await sleep(config.shutdownDelay * 1000);
    await running[Symbol.asyncDispose]();
  };
  return { url: listening, monitoringUrl, close: () => (closed ??= close()) };
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
 * Reads the configured keys for webhook secrets. If none are configured, a database in memory gets a new key. The key
 * need not be kept, because the database does not outlive the process.
 * @returns undefined for other databases without keys
 */
async function webhookKeysOf({ webhookKeys, databaseUrl, databaseFolder }: ResolvedConfig) {
  if (webhookKeys !== undefined) return WebhookKeys.read(webhookKeys);
  return databaseUrl === undefined && databaseFolder === null ? new WebhookKeys([randomBytes(32)]) : undefined;
}

/** @returns a function that stops deliveries after the requests in progress */
function deliverInBackground(
  { webhookEndpoints: endpoints, webhookDeliveries: deliveries, webhookSender: sender, now }: ServiceContext,
  { observeDelivery: onAttempt }: ReturnType<typeof makeMonitoring>,
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
