import { setTimeout as sleep } from "node:timers/promises";
import { deploy, FolderStore, publish, Registry } from "@keyroot/operator/publisher";
import type { KeyRecord } from "keyroot/internal/identity";
import { type RpcCall, rpcCaller } from "keyroot/internal/transport";
import { ENDLESS_MS } from "../endless.ts";

/** Options of `publish` for the chains of tests: Hardhat's and Anvil's. */
export const LOCAL = { chainId: 31337, limits: "local" } as const;

/** The private key of the first account of Hardhat's and Anvil's chains. */
export const OWNER_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

/** Returns a function that calls a test chain. */
export function callerOf(url: string): RpcCall {
  return rpcCaller(url, { maxBytes: 2 ** 20, timeoutMs: ENDLESS_MS });
}

/** Waits for a transaction's receipt. A node may take a moment, even with one block per transaction. */
export async function receiptOf(call: RpcCall, hash: unknown): Promise<{ contractAddress: string }> {
  for (;;) {
    const receipt = (await call("eth_getTransactionReceipt", [hash])) as { contractAddress: string } | null;
    if (receipt) return receipt;
    await sleep(5);
  }
}

/** Deploys a registry on a test chain, as the endpoint's first account. @param recordFile path of the deployments' record */
export function deployLocally(
  chain: DeployArguments[0],
  recordFile: string,
  limits: DeployArguments[1]["limits"] = "local",
): ReturnType<typeof deploy> {
  const { chainId } = LOCAL;
  const options = { chainId, owner: undefined, deterministic: false, signer: undefined, timeoutMs: ENDLESS_MS };
  return deploy(chain, { ...options, recordFile, limits });
}

/** Publishes records in the registry of a stack, and stores their files, with the objects that `beside` names. */
export async function publishLocally(
  { rpcUrl, contract, filesDir }: { rpcUrl: string; contract: string; filesDir: string },
  records: readonly KeyRecord[],
  { usersPerFile, ...beside }: Beside & { usersPerFile?: number } = {},
): ReturnType<typeof publish> {
  const registry = await Registry.connect(callerOf(rpcUrl), contract);
  const store = new FolderStore(filesDir, beside);
  return publish(records, { ...LOCAL, registry, store, ...(usersPerFile !== undefined && { usersPerFile }) });
}

type Beside = NonNullable<ConstructorParameters<typeof FolderStore>[1]>;
type DeployArguments = Parameters<typeof deploy>;
