import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FolderStore, publish, Registry } from "@keyroot/operator/publisher";
import { startFileHost } from "@keyroot/service/stack";
import type { KeyRecord } from "keyroot/identity";
import { type RpcCall, rpcCaller } from "keyroot/transport";
import { deployOn } from "../chain/freshRegistry.ts";
import { LOCAL } from "../chain/local.ts";
import { ENDLESS_MS } from "../endless.ts";

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
 * Options of Anvil with which the finalized block is 8 blocks behind the latest one, instead of 64. Its state is lost if
 * a chain of many blocks is reorganized often.
 */
export const ANVIL_OPTIONS = ["--slots-in-an-epoch", "4"];

/** Deploys a registry on a chain, which it closes in the end. */
export async function startWatchedChain(chain: { url: string; close(): Promise<void> }): Promise<WatchedChain> {
  await using starting = new AsyncDisposableStack();
  starting.defer(() => chain.close());
  const call = rpcCaller(chain.url, { maxBytes: 2 ** 20, timeoutMs: ENDLESS_MS });
  const [owner = ""] = (await call("eth_accounts", [])) as string[];
  const contract = await deployOn(call, owner);
  const dir = await mkdtemp(join(tmpdir(), "keyroot-watch-"));
  starting.defer(() => rm(dir, { recursive: true, force: true }));
  const files = await startFileHost({ dir, port: 0 });
  starting.defer(() => files.close());
  const registry = await Registry.connect(call, contract);
  const store = new FolderStore(dir);
  const finalize = () => call("hardhat_mine", ["0xa"]);
  await finalize();
  const running = starting.move();
  return {
    ...{ rpc: chain.url, chainId: LOCAL.chainId, contract, merkleUrl: files.url, call },
    async publish(records) {
      await publish(records, { ...LOCAL, registry, store });
      await finalize();
    },
    close: () => running.disposeAsync(),
  };
}
