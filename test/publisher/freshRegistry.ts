import { getAddress, HDNodeWallet } from "ethers";
import hre from "hardhat";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Registry } from "../../src/publisher/registry.ts";
import { toTransaction } from "../../src/publisher/signer.ts";
import type { SendTransaction } from "../../src/publisher/transactions.ts";
import { buildContracts } from "../../src/stack/build.ts";
import { startFileHost } from "../../src/stack/fileHost.ts";
import { startLocalChain } from "../../src/stack/localChain.ts";
import { type RpcCall, rpcCaller } from "../../src/transport/jsonRpc.ts";
import { PublicKeyRegistry__factory } from "../../typechain-types/factories/PublicKeyRegistry__factory.ts";
import { type Anvil, describeOnAnvil, startAnvil } from "../anvil/anvil.mts";
import { receiptOf } from "../receiptOf.ts";

/** A real chain with a file host, and a registry on it that nobody has used yet. */
export interface FreshRegistry {
  rpcUrl: string;
  merkleUrl: string;
  merkleDir: string;
  chainId: number;
  contract: string;
  /** Its owner: the chain's first account. */
  owner: string;
  /** An account that the endpoint signs for as well. */
  stranger: string;
  call: RpcCall;
  /** Deploys a further registry. */
  deploy(owner: string): Promise<string>;
  /** The registry, through `via` where that is given; what fails is asked again at once, and only twice. */
  connect(via?: RpcCall): Promise<Registry>;
  /** Sends a transaction that calls a function of the registry. */
  send(
    from: string,
    name: "addMerkleTreeRoot" | "transferOwnership" | "acceptOwnership",
    ...args: string[]
  ): Promise<void>;
}

/** What tests wait between two questions: next to nothing. */
export const IMPATIENT = { retries: 2, firstPauseMs: 5 };

const registryInterface = PublicKeyRegistry__factory.createInterface();

type StartChain = () => Promise<Pick<Anvil, "url" | "close">>;

/** Hardhat's chain, in this process. */
export const startHardhat: StartChain = async () => {
  await buildContracts(hre);
  const chain = await startLocalChain(hre, { port: 0 });
  return { url: chain.rpcUrl, close: () => chain.close() };
};

/** Describes what holds on Hardhat's chain, and on Anvil. */
export function describeOnBoth(what: string, body: (startChain: StartChain) => void): void {
  describe(`${what}, on Hardhat's chain`, function () {
    this.timeout(60_000);
    body(startHardhat);
  });
  describeOnAnvil(what, function (this: Mocha.Suite) {
    this.timeout(60_000);
    body(startAnvil);
  });
}

/** Starts one chain and file host for all tests of the surrounding `describe`, and deploys a registry for each of them. */
export function freshRegistry(startChain: StartChain = startHardhat): FreshRegistry {
  const fresh = {} as FreshRegistry;
  const running = new AsyncDisposableStack();

  before(async () => {
    const chain = await startChain();
    running.defer(() => chain.close());
    const merkleDir = await mkdtemp(join(tmpdir(), "keyroot-test-"));
    running.defer(() => rm(merkleDir, { recursive: true, force: true }));
    const host = await startFileHost({ dir: merkleDir, port: 0 });
    running.defer(() => host.close());
    const call = rpcCaller(chain.url, { maxBytes: 2 ** 20, timeoutMs: 30_000 });
    const chainId = Number(await call("eth_chainId", []));
    const [owner = "", stranger = ""] = ((await call("eth_accounts", [])) as string[]).map((one) => getAddress(one));
    Object.assign(fresh, { rpcUrl: chain.url, merkleUrl: host.url, merkleDir, chainId, call, owner, stranger });
  });
  after(() => running.disposeAsync());

  beforeEach(async () => {
    const { call, owner } = fresh;
    const deploy = (by: string) => deployOn(call, by);
    const contract = await deploy(owner);
    const connect = (via = fresh.call) => Registry.connect(via, fresh.contract, IMPATIENT);
    const send: FreshRegistry["send"] = async (from, name, ...args) => {
      const data = registryInterface.encodeFunctionData(name as "addMerkleTreeRoot", args as [string, string]);
      await call("eth_sendTransaction", [{ from, to: contract, data, gas: "0xf42400" }]);
    };
    Object.assign(fresh, { contract, deploy, connect, send });
  });
  return fresh;
}

/** Deploys a registry, paid for by the chain's first account. */
export async function deployOn(call: RpcCall, registryOwner: string): Promise<string> {
  const [from] = (await call("eth_accounts", [])) as string[];
  const { data } = await new PublicKeyRegistry__factory().getDeployTransaction(registryOwner);
  const hash = await call("eth_sendTransaction", [{ from, data, gas: "0x400000" }]);
  return getAddress((await receiptOf(call, hash)).contractAddress);
}

/** Signs with the key of the chain's first account, and sends what it signed: so a node can forget or repeat it. */
export function rawSender(via: RpcCall, chainId: number): SendTransaction {
  const wallet = HDNodeWallet.fromPhrase("test test test test test test test test test test test junk");
  return async (request) => {
    const signed = await wallet.signTransaction(toTransaction(request, chainId));
    return (await via("eth_sendRawTransaction", [signed])) as string;
  };
}
