import { setTimeout as sleep } from "node:timers/promises";
import type { RpcCall } from "../src/transport/jsonRpc.ts";

/** What a chain says of a transaction once it is in a block: a node may take a moment, also where each has its own. */
export async function receiptOf(call: RpcCall, hash: unknown): Promise<{ contractAddress: string }> {
  for (;;) {
    const receipt = (await call("eth_getTransactionReceipt", [hash])) as { contractAddress: string } | null;
    if (receipt) return receipt;
    await sleep(5);
  }
}
