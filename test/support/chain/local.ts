import { setTimeout as sleep } from "node:timers/promises";
import { deploy, FolderStore, publish, type PublishResult, Registry } from "@keyroot/operator/publisher";
import type { Stack } from "@keyroot/service/stack";
import type { KeyRecord } from "keyroot";
import { type RpcCall, rpcCaller } from "keyroot/transport";
import { ENDLESS_MS } from "../endless.ts";

/** Options of `publish` for the chains of tests: Hardhat's and Anvil's. */
export const LOCAL = { chainId: 31337, limits: "local" } as const;

/** The private key of the first account of Hardhat's and Anvil's chains. */
export const OWNER_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

/** Publishes keys on a stack, with their leaf chunks. */
export async function publishOn(
  { rpcUrl, contract, filesDir }: Pick<Stack, "rpcUrl" | "contract" | "filesDir">,
  records: readonly KeyRecord[],
  usersPerFile?: number,
): Promise<PublishResult> {
  const call = rpcCaller(rpcUrl, { maxBytes: 2 ** 20, timeoutMs: ENDLESS_MS });
  const registry = await Registry.connect(call, contract);
  const store = new FolderStore(filesDir, { proofs: true });
  return publish(records, { ...LOCAL, registry, store, ...(usersPerFile !== undefined && { usersPerFile }) });
}

/** Waits for a transaction's receipt. A node may take a moment, even with one block per transaction. */
export async function receiptOf(call: RpcCall, hash: unknown): Promise<{ contractAddress: string }> {
  for (;;) {
    const receipt = (await call("eth_getTransactionReceipt", [hash])) as { contractAddress: string } | null;
    if (receipt) return receipt;
    await sleep(5);
  }
}

/** Deploys a registry on a test chain, as the endpoint's first account. @param record path of the deployments' record */
export function deployLocally(
  chain: DeployArguments[0],
  record: string,
  limits: DeployArguments[1]["limits"] = "local",
): ReturnType<typeof deploy> {
  const { chainId } = LOCAL;
  const options = { chainId, owner: undefined, deterministic: false, signer: undefined, timeoutMs: ENDLESS_MS };
  return deploy(chain, { ...options, record, limits });
}

type DeployArguments = Parameters<typeof deploy>;
