import type { Interface } from "ethers";
import hre from "hardhat";
import { Registry } from "../../src/publisher/registry.ts";
import { startStack, type Stack } from "../../src/stack/stack.ts";
import { type RpcCall, rpcCaller } from "../../src/transport/jsonRpc.ts";

/** A real chain with a file host, and a registry on it that nobody has used yet. */
export interface FreshRegistry extends Pick<Stack, "rpcUrl" | "merkleUrl" | "merkleDir" | "chainId"> {
  contract: string;
  /** Its owner: the chain's first account. */
  owner: string;
  /** An account that the endpoint signs for as well. */
  stranger: string;
  call: RpcCall;
  /** Deploys a further registry. */
  deploy(owner: string): Promise<string>;
  /** Writes to the registry, through `via` where that is given. */
  connect(via?: RpcCall): Promise<Registry>;
  /** Sends a transaction that calls a function of the registry. */
  send(from: string, name: string, ...args: unknown[]): Promise<void>;
}

/** Starts one stack for all tests of the surrounding `describe`, and deploys a registry for each of them. */
export function freshRegistry(): FreshRegistry {
  const fresh = {} as FreshRegistry;
  let stack: Stack;

  before(async () => {
    stack = await startStack(hre, { ports: { chain: 0, files: 0 } });
    const { rpcUrl, merkleUrl, merkleDir, chainId } = stack;
    const call = rpcCaller(rpcUrl, { maxBytes: 2 ** 20, timeoutMs: 30_000 });
    Object.assign(fresh, { rpcUrl, merkleUrl, merkleDir, chainId, call });
  });
  after(() => stack.close());

  beforeEach(async () => {
    const { ethers } = stack.connection;
    const [owner, stranger] = (await ethers.getSigners()).map(({ address }) => address);
    const deploy = async (by: unknown) => (await ethers.deployContract("PublicKeyRegistry", [by])).getAddress();
    const contract = await deploy(owner);
    const registry: Interface = (await ethers.getContractFactory("PublicKeyRegistry")).interface;
    const connect = (via = fresh.call) => Registry.connect(via, contract);
    const send = async (from: string, name: string, ...args: unknown[]) => {
      const data = registry.encodeFunctionData(name, args);
      await fresh.call("eth_sendTransaction", [{ from, to: contract, data, gas: "0xf42400" }]);
    };
    Object.assign(fresh, { contract, owner, stranger, deploy, connect, send });
  });
  return fresh;
}
