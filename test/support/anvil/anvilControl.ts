import type { RpcCall } from "keyroot/internal/transport";

/** Replaces the last blocks with empty ones. Their transactions are lost. */
export async function reorganize(call: RpcCall, blocks: number): Promise<void> {
  await call("anvil_reorg", [blocks, []]);
}

/** Stops automatic mining. Transactions wait until blocks are mined. */
export async function stopMining(call: RpcCall): Promise<void> {
  await call("evm_setAutomine", [false]);
}
