import { randomBytes } from "node:crypto";
import type { ServiceConfig } from "../config/serviceConfig.ts";
import { Cleanup } from "../api/base/cleanup.ts";
import { openDatabases } from "../api/database/database.ts";
import { startPublisher } from "../publisher/startPublisher.ts";
import { startService } from "../serve/startService.ts";

interface LocalServiceOptions extends Pick<ServiceConfig, "explorerUrl" | "keyType" | "accounts"> {
  /** The port to listen on, or 0 for any free port. If it is in use, the next free port is used. */
  port: number;
  /** The chain on which the publisher publishes registered keys. */
  chain: { rpcUrl: string; chainId: number; contract: string; filesDir: string; secondFilesDir: string };
}

/**
 * Starts a partner service and its publisher on the stack's chain. Both run in this process, with a new database in
 * memory for each region.
 * @throws TransportError PORT_UNAVAILABLE
 */
export async function startLocalService({ port, chain, ...config }: LocalServiceOptions) {
  await using starting = new Cleanup();
  const adminToken = randomBytes(32).toString("hex");
  const { rpcUrl, chainId, contract, filesDir, secondFilesDir } = chain;
  const databases = starting.use(await openDatabases({ url: undefined, separateRegions: true }));
  await databases.migrate();
  const publisher = await startPublisher({
    databases,
    logLevel: "error",
    keyType: config.keyType,
    accounts: config.accounts,
    chain: { rpcUrl, chainId, contract, files: { "us-west-2": filesDir, "eu-west-1": secondFilesDir } },
  });
  starting.defer(() => publisher.close());
  const service = await startService({
    databases,
    port,
    nextFreePort: true,
    monitoringPort: null,
    stage: "local",
    adminToken,
    rateLimit: 0,
    holdPeriod: 0,
    logLevel: "error",
    ...config,
    webhooksPrivate: true,
    databaseFolder: null,
    registry: { contract, chainId },
  });
  starting.defer(() => service.close());
  const running = starting.move();
  return { url: service.url, adminToken, close: () => running[Symbol.asyncDispose]() };
}
