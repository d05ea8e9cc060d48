import { getAddress, HDNodeWallet } from "ethers";
import hre from "hardhat";
import { subscribe } from "node:diagnostics_channel";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Registry, type SendTransaction, toTransaction } from "@keyroot/operator/publisher";
import { startFileHost, startLocalChain } from "@keyroot/service/stack";
import type { RpcCall } from "keyroot/internal/transport";
import { PublicKeyRegistry__factory } from "../../../typechain-types/factories/PublicKeyRegistry__factory.ts";
import { type Anvil, describeOnAnvil, startAnvil } from "../anvil/anvil.ts";
import "../shortRetries.ts";
import { callerOf, receiptOf } from "./local.ts";

// Keep idle connections to the servers of this process open. By default, Node's servers close them after 5 s. If a test
// works without a pause for longer than that, the server closes the very connection that the next request uses.
subscribe("http.server.request.start", (message) => {
  (message as { server: Server }).server.keepAliveTimeout = 0;
});

/** A chain with a file host. */
export interface ChainWithFiles {
  rpcUrl: string;
  merkleUrl: string;
  filesDir: string;
  chainId: number;
  /** The chain's first account. */
  owner: string;
  /** Another account that the endpoint signs for. */
  stranger: string;
  call: RpcCall;
}

/** A chain with a file host, and a new registry of `owner` without users. */
export interface FreshRegistry extends ChainWithFiles {
  contract: string;
  /** Deploys another registry. */
  deploy(owner: string): Promise<string>;
  /** Connects to the registry, through `via` if given. Failed reads are repeated twice, almost without delay. */
  connect(via?: RpcCall): Promise<Registry>;
  /** The endpoint, with a different handler for one method. @param handle receives the number of the call, from 1 */
  at: (
    method: string,
    handle: (forward: () => Promise<unknown>, params: readonly unknown[], time: number) => unknown,
  ) => RpcCall;
  /** Sends a transaction that calls the registry, and waits for its block. */
  send(
    from: string,
    name: "addMerkleTreeRoot" | "transferOwnership" | "acceptOwnership",
    ...args: string[]
  ): Promise<void>;
}

/** Retry options for tests: few retries, short delays. */
export const FAST_RETRY = { retries: 2, initialDelayMs: 5 };

const registryInterface = PublicKeyRegistry__factory.createInterface();

export type StartChain = () => Promise<Pick<Anvil, "url" | "close">>;

/** Hardhat's chain, in this process. */
export const startHardhat: StartChain = async () => {
  const chain = await startLocalChain(hre, { port: 0 });
  return { url: chain.rpcUrl, close: () => chain.close() };
};

/** Runs the same tests on Hardhat's chain and on Anvil. */
export function describeOnBoth(what: string, body: (startChain: StartChain) => void): void {
  describe(`${what}, on Hardhat's chain`, () => {
    body(startHardhat);
  });
  describeOnAnvil(what, function (this: Mocha.Suite) {
    body(startAnvil);
  });
}

/** Adds a host of files in a new folder to a chain. `running` closes both, and removes the folder. */
export async function withFiles(
  chain: Awaited<ReturnType<StartChain>>,
  running: AsyncDisposableStack,
): Promise<ChainWithFiles> {
  running.defer(() => chain.close());
  const filesDir = await mkdtemp(join(tmpdir(), "keyroot-test-"));
  running.defer(() => rm(filesDir, { recursive: true, force: true }));
  const host = await startFileHost({ dir: filesDir, port: 0 });
  running.defer(() => host.close());
  const call = callerOf(chain.url);
  const chainId = Number(await call("eth_chainId", []));
  const [owner = "", stranger = ""] = ((await call("eth_accounts", [])) as string[]).map((one) => getAddress(one));
  return { rpcUrl: chain.url, merkleUrl: host.url, filesDir, chainId, call, owner, stranger };
}

/**
 * Starts one chain and file host for all tests of the surrounding `describe`. Each test gets a new registry and an
 * empty folder of files.
 */
export function freshRegistry(startChain: StartChain = startHardhat): FreshRegistry {
  const at: FreshRegistry["at"] = (method, handle) => {
    let time = 0;
    return async (called, params) => {
      const forward = () => fresh.call(called, params);
      return called === method ? await handle(forward, params, ++time) : forward();
    };
  };
  const fresh = { at } as FreshRegistry;
  const running = new AsyncDisposableStack();

  before(async () => {
    Object.assign(fresh, await withFiles(await startChain(), running));
  });
  after(() => running.disposeAsync());

  beforeEach(async () => {
    const { call, owner, filesDir } = fresh;
    for (const name of await readdir(filesDir)) await rm(join(filesDir, name), { recursive: true });
    const deploy = (by: string) => deployOn(call, by);
    const contract = await deploy(owner);
    const connect = (via = fresh.call) => Registry.connect(via, fresh.contract, FAST_RETRY);
    const send: FreshRegistry["send"] = async (from, name, ...args) => {
      const data = registryInterface.encodeFunctionData(name as "addMerkleTreeRoot", args as [string, string]);
      await receiptOf(call, await call("eth_sendTransaction", [{ from, to: contract, data, gas: "0xf42400" }]));
    };
    Object.assign(fresh, { contract, deploy, connect, send });
  });
  return fresh;
}

/** Deploys a registry. The chain's first account pays. */
export async function deployOn(call: RpcCall, registryOwner: string): Promise<string> {
  const [from] = (await call("eth_accounts", [])) as string[];
  const { data } = await new PublicKeyRegistry__factory().getDeployTransaction(registryOwner);
  const hash = await call("eth_sendTransaction", [{ from, data, gas: "0x400000" }]);
  return getAddress((await receiptOf(call, hash)).contractAddress);
}

/**
 * Signs with the key of the chain's first account, and sends raw transactions, which a faulty endpoint can drop or
 * repeat.
 */
export function rawSender(via: RpcCall, chainId: number): SendTransaction {
  const wallet = HDNodeWallet.fromPhrase("test test test test test test test test test test test junk");
  return async (request) => {
    const signed = await wallet.signTransaction(toTransaction(request, chainId));
    return (await via("eth_sendRawTransaction", [signed])) as string;
  };
}
