import type { KeyRecord } from "keyroot/internal/identity";
import type { RpcCall } from "keyroot/internal/transport";
import { deployOn, withFiles } from "../chain/freshRegistry.ts";
import { publishLocally } from "../chain/local.ts";

/** A registry and its files on a real chain, on which a watch runs. */
export interface WatchedChain {
  rpc: string;
  chainId: number;
  contract: string;
  merkleUrl: string;
  call: RpcCall;
  /** Publishes keys, and waits until they are final. */
  publish(records: readonly KeyRecord[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * Options of Anvil with which the finalized block is 8 blocks behind the latest one, instead of 64. If a chain of many
 * blocks is reorganized often, Anvil loses its state.
 */
export const ANVIL_OPTIONS = ["--slots-in-an-epoch", "4"];

/** Deploys a registry on a chain. The result's `close` also closes the chain. */
export async function startWatchedChain(chain: { url: string; close(): Promise<void> }): Promise<WatchedChain> {
  await using starting = new AsyncDisposableStack();
  const { rpcUrl, chainId, merkleUrl, filesDir, call, owner } = await withFiles(chain, starting);
  const contract = await deployOn(call, owner);
  const finalize = () => call("hardhat_mine", ["0xa"]);
  await finalize();
  const running = starting.move();
  return {
    ...{ rpc: rpcUrl, chainId, contract, merkleUrl, call },
    async publish(records) {
      await publishLocally({ rpcUrl, contract, filesDir }, records);
      await finalize();
    },
    close: () => running.disposeAsync(),
  };
}
