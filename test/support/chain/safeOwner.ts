import {
  concat,
  Contract,
  ContractFactory,
  type ContractTransactionReceipt,
  HDNodeWallet,
  Interface,
  type InterfaceAbi,
  JsonRpcProvider,
  solidityPacked,
  Wallet,
  ZeroAddress,
} from "ethers";
import { readFile } from "node:fs/promises";
import type { SafeBatchFile } from "../../../packages/operator/src/publisher/safe/safeBatchFile.ts";

/** The Safe's contracts, as its authors compiled them. */
const ARTIFACTS = new URL(
  "build/artifacts/contracts/",
  import.meta.resolve("@safe-global/safe-smart-account/package.json"),
);

/** The seed phrase of the accounts of Hardhat's and Anvil's chains. */
const PHRASE = "test test test test test test test test test test test junk";

/** The type that the owners of a Safe sign (EIP-712, `SAFE_TX_TYPEHASH` in Safe.sol). */
const SAFE_TX = {
  SafeTx: [
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "data", type: "bytes" },
    { name: "operation", type: "uint8" },
    { name: "safeTxGas", type: "uint256" },
    { name: "baseGas", type: "uint256" },
    { name: "gasPrice", type: "uint256" },
    { name: "gasToken", type: "address" },
    { name: "refundReceiver", type: "address" },
    { name: "nonce", type: "uint256" },
  ],
};

/** A Safe of the published contracts, with 3 owners and the threshold 2. Another account pays the gas. */
export class SafeOwner {
  readonly address: string;
  readonly #safe: Contract;
  readonly #multiSend: Contract;
  readonly #owners: HDNodeWallet[];
  readonly #provider: JsonRpcProvider;

  private constructor(
    address: string,
    safe: Contract,
    multiSend: Contract,
    owners: HDNodeWallet[],
    provider: JsonRpcProvider,
  ) {
    this.address = address;
    this.#safe = safe;
    this.#multiSend = multiSend;
    this.#owners = owners;
    this.#provider = provider;
  }

  /** Creates a Safe on Hardhat's chain or Anvil. The chain's last account pays. */
  static async create(rpcUrl: string): Promise<SafeOwner> {
    const provider = new JsonRpcProvider(rpcUrl, undefined, { cacheTimeout: -1, pollingInterval: 20 });
    const payer = HDNodeWallet.fromPhrase(PHRASE, undefined, "m/44'/60'/0'/0/9").connect(provider);
    const deploy = async (path: string) => {
      const { abi, bytecode } = await artifact(path);
      const contract = await new ContractFactory(abi, bytecode, payer).deploy();
      await contract.waitForDeployment();
      return new Contract(await contract.getAddress(), abi, payer);
    };
    const singleton = await deploy("Safe.sol/Safe.json");
    const factory = await deploy("proxies/SafeProxyFactory.sol/SafeProxyFactory.json");
    const multiSend = await deploy("libraries/MultiSendCallOnly.sol/MultiSendCallOnly.json");

    const owners = Array.from({ length: 3 }, () => Wallet.createRandom());
    const addresses = owners.map(({ address }) => address);
    const setup = [addresses, 2, ZeroAddress, "0x", ZeroAddress, ZeroAddress, 0, ZeroAddress];
    const initializer = singleton.interface.encodeFunctionData("setup", setup);
    const created = await call(factory, "createProxyWithNonce", singleton.target, initializer, 0);
    const events = created.logs.map((log) => factory.interface.parseLog(log));
    const proxy = String(events.find((event) => event?.name === "ProxyCreation")?.args["proxy"]);
    const safe = new Contract(proxy, singleton.interface, payer);
    return new SafeOwner(proxy, safe, multiSend, owners, provider);
  }

  /** Executes a file like Safe's Transaction Builder: encodes its calls, and the owners sign and send one transaction. */
  async execute({ transactions }: SafeBatchFile, gasLimit?: bigint): Promise<ContractTransactionReceipt> {
    const calls = transactions.map(({ to, contractMethod, contractInputsValues }) => {
      const abi = new Interface([{ type: "function", ...contractMethod }] as InterfaceAbi);
      const values: Record<string, string> = contractInputsValues;
      const inputs = contractMethod.inputs.map(({ name }) => values[name]);
      return { to, data: abi.encodeFunctionData(contractMethod.name, inputs) };
    });
    const [only] = calls;
    if (only !== undefined && calls.length === 1) return this.#execute(only.to, only.data, 0, gasLimit);
    const packed = concat(
      calls.map(({ to, data }) =>
        solidityPacked(["uint8", "address", "uint256", "uint256", "bytes"], [0, to, 0, (data.length - 2) / 2, data]),
      ),
    );
    const data = this.#multiSend.interface.encodeFunctionData("multiSend", [packed]);
    return this.#execute(await this.#multiSend.getAddress(), data, 1, gasLimit);
  }

  close(): void {
    this.#provider.destroy();
  }

  async #execute(to: string, data: string, operation: 0 | 1, gasLimit?: bigint): Promise<ContractTransactionReceipt> {
    const { chainId } = await this.#provider.getNetwork();
    const nonce = (await this.#safe.getFunction("nonce").staticCall()) as bigint;
    const rest = { safeTxGas: 0, baseGas: 0, gasPrice: 0, gasToken: ZeroAddress, refundReceiver: ZeroAddress };
    const message = { to, value: 0, data, operation, ...rest, nonce };
    // The contract requires signatures sorted by their signers' addresses.
    const signers = this.#owners.slice(0, 2).sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));
    const domain = { chainId, verifyingContract: this.address };
    const signatures = await Promise.all(signers.map((signer) => signer.signTypedData(domain, SAFE_TX, message)));
    const values = [to, 0, data, operation, 0, 0, 0, ZeroAddress, ZeroAddress, concat(signatures)];
    return call(this.#safe, "execTransaction", ...values, ...(gasLimit === undefined ? [] : [{ gasLimit }]));
  }
}

async function artifact(path: string): Promise<{ abi: InterfaceAbi; bytecode: string }> {
  return JSON.parse(await readFile(new URL(path, ARTIFACTS), "utf8")) as { abi: []; bytecode: string };
}

async function call(contract: Contract, name: string, ...values: unknown[]): Promise<ContractTransactionReceipt> {
  const sent = await contract.getFunction(name).send(...values);
  const receipt = await sent.wait();
  if (receipt === null) throw new Error("no receipt");
  return receipt;
}
