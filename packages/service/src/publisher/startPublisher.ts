import { openSigner, type Signer } from "@keyroot/operator/publisher";
import { checkAllBuiltins } from "keyroot/internal/input";
import { loadKeyType } from "keyroot/internal/keyTypes";
import { Cleanup } from "../api/base/cleanup.ts";
import { ArgumentError } from "../api/base/errors.ts";
import { every } from "../api/base/repeatedTasks.ts";
import { checkMigrations, type Databases, openDatabases } from "../api/database/database.ts";
import { makeLogger } from "../api/logger.ts";
import { limitsOf, type PublisherConfig, resolvePublisherConfig } from "../config/publisherConfig.ts";
import { readPublisherConfig } from "../config/readConfig.ts";
import { requireKeyType } from "../publishing/registryKeyType.ts";
import { KeyPublisher } from "./keyPublisher.ts";
import { publisherTasks, reporter } from "./publisherTasks.ts";

/** A running publisher. */
export interface RunningPublisher {
  /** Stops the publisher after the statement in progress, and closes the databases that it opened. */
  close(): Promise<void>;
}

/** Options of `startPublisher`: the configuration, a signer and open databases. */
export interface StartPublisherOptions extends PublisherConfig {
  /**
   * Signs publishing transactions as the registry's owner. Default: the signer that the environment variables configure
   * (`openSigner`). Without these variables, the chain's endpoint signs.
   */
  signer?: Signer | undefined;
  /** Open databases, which `close` leaves open. Default: the publisher opens the configured databases. */
  databases?: Databases | undefined;
}

/**
 * Starts a publisher of registered keys. It publishes on its schedule and on request, and compares published roots with
 * the chain and the files. It also reports the state of the chain and the stores to the service. It listens on no port.
 * Several publishers may run, but only the one with the lease publishes.
 * @param options the configuration. Default: `readPublisherConfig(process.env)`
 * @throws ArgumentError CONFIGURATION_INVALID, SCHEMA_OUTDATED, and the codes of `openSigner`
 */
export async function startPublisher(
  options: StartPublisherOptions = readPublisherConfig(process.env),
): Promise<RunningPublisher> {
  checkAllBuiltins();
  const { signer, databases: opened, ...fields } = options;
  const { databaseUrl, regionUrls, connections, logLevel, chain, schedule, accounts, holdOnConflict, keyType } =
    resolvePublisherConfig(fields);
  if (opened === undefined && databaseUrl === undefined) {
    const message =
      "DATABASE_URL is missing. The publisher and the service need the same PostgreSQL database. For development, run 'npx hardhat keyroot stack', which contains both.";
    throw new ArgumentError("CONFIGURATION_INVALID", message);
  }
  await using starting = new Cleanup();
  const owner = signer ?? (await openSigner(process.env));
  const databases = opened ?? starting.use(await openDatabases({ url: databaseUrl, regionUrls, connections }));
  await checkMigrations(databases);
  await requireKeyType(databases, keyType);

  const logger = makeLogger(logLevel);
  const publisher = new KeyPublisher(databases, { ...chain, limits: limitsOf(chain) }, owner, {
    keyType: await loadKeyType(keyType),
    accounts,
    holdOnConflict,
    every: schedule?.every ?? null,
    onDifference: (difference, err) => {
      const isKey = difference.code === "KEY_DIFFERS";
      const problem = isKey ? "another key is published for a user" : "a published root is not confirmed";
      logger.error({ ...difference, err }, problem);
    },
    onRegionFailed: (region, err) => {
      logger.error({ region, err }, "publishing a region's keys failed");
    },
  });
  // The service knows the state of the chain as soon as the publisher runs.
  await reporter(publisher, logger)();
  for (const task of publisherTasks(publisher, schedule, logger)) starting.defer(every(task, logger));
  const running = starting.move();
  return { close: () => running[Symbol.asyncDispose]() };
}
