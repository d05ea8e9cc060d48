import type { KeyType } from "keyroot/internal/identity";
import { RPC_LIMITS, rpcCaller } from "keyroot/internal/transport";
import {
  endpointSender,
  openStore,
  Registry,
  type SendTransaction,
  type Signer,
  signingSender,
} from "@keyroot/operator/publisher";
import type { ChainConfig } from "../config/publisherConfig.ts";
import { RootCheck } from "./rootCheck.ts";

/** Connects a publisher to the registry and to the stores of Merkle-tree files. */
export class ChainConnection {
  readonly #chain: ChainConfig;
  readonly #signer: Signer | undefined;
  readonly #keyType: KeyType;
  readonly #now: () => number;

  /** @param signer signs as the registry's owner. Undefined if the chain's endpoint signs */
  constructor(chain: ChainConfig, signer: Signer | undefined, keyType: KeyType, now: () => number) {
    this.#chain = chain;
    this.#signer = signer;
    this.#keyType = keyType;
    this.#now = now;
  }

  /** @param lost the signal that aborts all calls to the chain when the lease is lost */
  async connect(lost: AbortSignal, rpcUrl = this.#chain.rpcUrl): Promise<Registry> {
    const { contract, chainId, allowHttp } = this.#chain;
    const { maxBytes, timeoutMs } = RPC_LIMITS;
    const call = rpcCaller(rpcUrl, { maxBytes, timeoutMs, signal: lost, allowHttp });
    const registry = await Registry.connect(call, contract);
    await registry.chain.verifyChainId(chainId);
    return registry;
  }

  /**
   * Creates a `RootCheck`, which compares the chain with the files. If a second endpoint is configured, both endpoints
   * must agree.
   * @param lost aborts all calls to the chain when the lease is lost
   */
  async openCheck(registry: Registry, lost: AbortSignal): Promise<RootCheck> {
    const { secondRpcUrl, chainId, confirmations, files } = this.#chain;
    const second = secondRpcUrl === undefined ? [] : [await this.connect(lost, secondRpcUrl)];
    const stores = await openStores(files);
    const registries = [registry, ...second] as const;
    return new RootCheck({ registries, stores, chainId, confirmations, keyType: this.#keyType, now: this.#now });
  }

  async senderFor(registry: Registry): Promise<SendTransaction> {
    const { chainId } = this.#chain;
    if (this.#signer === undefined) return endpointSender(registry, chainId);
    const { chain, contract, owner } = registry;
    return signingSender(this.#signer, { chainId, contract, owner }, chain.call);
  }
}

/** Opens the store of each region's files. */
export async function openStores(files: ChainConfig["files"]) {
  return { "us-west-2": await openStore(files["us-west-2"]), "eu-west-1": await openStore(files["eu-west-1"]) };
}
