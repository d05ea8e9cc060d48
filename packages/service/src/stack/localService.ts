import { randomBytes } from "node:crypto";
import type { KeyTypeName } from "keyroot/internal/identity";
import { Cleanup } from "../api/base/cleanup.ts";
import { openDatabases } from "../api/database/database.ts";
import { startPublisher } from "../publisher/startPublisher.ts";
import { startService } from "../serve/startService.ts";

/**
 * A partner service and its publisher for development. Both run in this process, with a new in-memory database for each
 * region.
 */
export interface LocalService {
  /** The service's URL, `http://<address>:<port>`, without a trailing slash. */
  readonly url: string;
  readonly adminToken: string;
  close(): Promise<void>;
}

export interface LocalServiceOptions {
  /** The port to listen on, or 0 for any free port. If it is in use, the next free port is used. */
  port: number;
  /** The chain on which the publisher publishes registered keys. */
  chain: { rpcUrl: string; chainId: number; contract: string; filesDir: string; secondFilesDir: string };
  /** The URL of an explorer to which the dashboard links. */
  explorerUrl?: string | undefined;
  /** The type of the registry's keys. Default: `curve41417`. */
  keyType?: KeyTypeName | undefined;
  /** Whether all user ids are accounts. Default: unset, for one key per user. */
  accounts?: "required" | undefined;
}

/** Starts a partner service and its publisher on the stack's chain. @throws TransportError PORT_UNAVAILABLE */
export async function startLocalService({
  port,
  chain,
  explorerUrl,
  keyType,
  accounts,
}: LocalServiceOptions): Promise<LocalService> {
  await using starting = new Cleanup();
  const adminToken = randomBytes(32).toString("hex");
  const { rpcUrl, chainId, contract, filesDir, secondFilesDir } = chain;
  const databases = starting.use(await openDatabases({ url: undefined, separateRegions: true }));
  await databases.migrate();
  const publisher = await startPublisher({
    databases,
    logLevel: "error",
    keyType,
    accounts,
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
    keyType,
    accounts,
    webhooksPrivate: true,
    databaseFolder: null,
    registry: { contract, chainId },
    explorerUrl,
  });
  starting.defer(() => service.close());
  const running = starting.move();
  return { url: service.url, adminToken, close: () => running[Symbol.asyncDispose]() };
}
