import { setTimeout as sleep } from "node:timers/promises";
import type { RpcCall } from "keyroot/transport";

/** Options of `publish` for the chains of tests: Hardhat's and Anvil's. */
export const LOCAL = { chainId: 31337, limits: "local" } as const;

/** Waits for a transaction's receipt. A node may take a moment, even with one block per transaction. */
export async function receiptOf(call: RpcCall, hash: unknown): Promise<{ contractAddress: string }> {
  for (;;) {
    const receipt = (await call("eth_getTransactionReceipt", [hash])) as { contractAddress: string } | null;
    if (receipt) return receipt;
    await sleep(5);
  }
}
