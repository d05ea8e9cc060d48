import { randomBytes } from "node:crypto";
import { readConfig } from "../config/readConfig.ts";
import { type RunningService, startService } from "../startService.ts";
import { freePort } from "@keyroot/operator/shared";

/**
 * A partner service for development. The service runs in this process, with a new in-memory database for each region.
 */
export interface LocalService extends RunningService {
  readonly adminToken: string;
}

export interface LocalServiceOptions {
  /** The port to listen on. If the port is in use, the service uses the next free port. 0 means any free port. */
  port: number;
  /** The chain on which the service publishes registered keys. */
  chain: { rpcUrl: string; chainId: number; contract: string; filesDir: string; secondFilesDir: string };
  /** The URL of an explorer to which the dashboard links. */
  explorerUrl?: string | undefined;
}

/** Starts a partner service that publishes on the stack's chain. @throws TransportError PORT_UNAVAILABLE */
export async function startLocalService({ port, chain, explorerUrl }: LocalServiceOptions): Promise<LocalService> {
  const adminToken = randomBytes(32).toString("hex");
  const config = readConfig({
    KEYROOT_PORT: String(await freePort(port)),
    KEYROOT_STAGE: "local",
    KEYROOT_ADMIN_TOKEN: adminToken,
    KEYROOT_RATE_LIMIT: "0",
    KEYROOT_HOLD_PERIOD: "0",
    KEYROOT_LOG_LEVEL: "error",
    KEYROOT_WEBHOOK_PRIVATE: "true",
    KEYROOT_RPC_URL: chain.rpcUrl,
    KEYROOT_CHAIN_ID: String(chain.chainId),
    KEYROOT_CONTRACT: chain.contract,
    KEYROOT_FILES: chain.filesDir,
    KEYROOT_FILES_EU_WEST_1: chain.secondFilesDir,
    ...(explorerUrl !== undefined && { KEYROOT_EXPLORER_URL: explorerUrl }),
  });
  const service = await startService({ ...config, databaseFolder: null, separateRegions: true, monitoringPort: null });
  return { ...service, adminToken };
}
