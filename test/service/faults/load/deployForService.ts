import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rpcCaller } from "keyroot/internal/transport";
import { deployOn } from "../../../support/chain/freshRegistry.ts";
import { LOCAL } from "../../../support/chain/local.ts";
import { ENDLESS_MS } from "../../../support/endless.ts";
import type { Deployment } from "../../../support/publisher/deployment.ts";

/** A registry for a publishing service, and a temporary folder, which contains the folder of files. */
export interface ServiceDeployment extends Deployment {
  folder: string;
  /** The environment variables of a service that publishes in this registry. */
  variables: Record<"KEYROOT_RPC_URL" | "KEYROOT_CONTRACT" | "KEYROOT_CHAIN_ID" | "KEYROOT_FILES", string>;
}

/**
 * Deploys a registry, which the endpoint's first account owns.
 * @param cleanup removes the folder
 * @param rpcUrl an endpoint that signs for its first account
 */
export async function deployForService(cleanup: AsyncDisposableStack, rpcUrl: string): Promise<ServiceDeployment> {
  const folder = await mkdtemp(join(tmpdir(), "keyroot-service-"));
  cleanup.defer(() => rm(folder, { recursive: true, force: true }));
  const filesDir = join(folder, "files");
  await mkdir(filesDir);
  const call = rpcCaller(rpcUrl, { maxBytes: 2 ** 24, timeoutMs: ENDLESS_MS });
  const [owner = ""] = (await call("eth_accounts", [])) as string[];
  const contract = await deployOn(call, owner);
  const variables = {
    ...{ KEYROOT_RPC_URL: rpcUrl, KEYROOT_CONTRACT: contract },
    ...{ KEYROOT_CHAIN_ID: String(LOCAL.chainId), KEYROOT_FILES: filesDir },
  };
  return { call, contract, owner, filesDir, folder, variables };
}
