import type { RpcCall } from "../../src/transport/jsonRpc.ts";

/** Throws the last blocks away and puts as many empty ones in their place: their transactions are gone for good. */
export async function reorganise(call: RpcCall, blocks: number): Promise<void> {
  await call("anvil_reorg", [blocks, []]);
}

/**
 * Throws the last blocks away, as many empty ones come in their place, and these transactions in the first of them
 * (or in those that `block` counts, from 0).
 */
export async function reorganiseWith(
  call: RpcCall,
  blocks: number,
  transactions: readonly { raw: string; block?: number }[],
): Promise<void> {
  await call("anvil_reorg", [blocks, transactions.map(({ raw, block = 0 }) => [raw, block])]);
}

/** From now on transactions wait until `mine` is called. */
export async function stopMining(call: RpcCall): Promise<void> {
  await call("evm_setAutomine", [false]);
}

/** From now on each transaction gets its block at once; those that wait get theirs now. */
export async function resumeMining(call: RpcCall): Promise<void> {
  await call("evm_setAutomine", [true]);
  await mine(call, 1);
}

/** Makes blocks of what waits. */
export async function mine(call: RpcCall, blocks: number): Promise<void> {
  await call("anvil_mine", [`0x${blocks.toString(16)}`]);
}

/** Sets the base fee of the next block, in wei; those after it follow by the rule of EIP-1559. */
export async function setNextBaseFee(call: RpcCall, wei: bigint): Promise<void> {
  await call("anvil_setNextBlockBaseFeePerGas", [`0x${wei.toString(16)}`]);
}

/** Lets the node forget a transaction that waits. */
export async function forget(call: RpcCall, transactionHash: string): Promise<void> {
  await call("anvil_dropTransaction", [transactionHash]);
}

/** How many transactions wait for a block. */
export async function waitingTransactions(call: RpcCall): Promise<number> {
  const { pending } = (await call("txpool_status", [])) as { pending: string };
  return Number(pending);
}
