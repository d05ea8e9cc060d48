import { publicKeyRegistryAbi } from "@keyroot/contracts";
import { expect } from "chai";
import { Contract, encodeBytes32String, JsonRpcProvider, keccak256, ZeroAddress } from "ethers";
import hre from "hardhat";
import PublicKeyRegistryModule from "../../../ignition/modules/PublicKeyRegistry.ts";
import { describeOnAnvil, startAnvil } from "../../support/anvil/anvil.ts";
import { startHardhat } from "../../support/chain/freshRegistry.ts";
import { program as keyroot } from "../../support/processes/commandLine.ts";

const OWNER = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const OTHER_OWNER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const CREATE_X = "0xba5Ed099633D3B313e4D5F7bdc1305d3c28ba5Ed";

const deterministic = (rpc: string, owner = OWNER, chainId = "31337") => [
  "deploy",
  "--deterministic",
  "--rpc",
  rpc,
  "--chain-id",
  chainId,
  "--owner",
  owner,
];
const deploy = (rpc: string, owner?: string) => keyroot.json(deterministic(rpc, owner));

describe("keyroot deploy --deterministic", () => {
  let ignitionsAddress: string;
  let createX: string;

  before(async () => {
    // Hardhat Ignition deploys CreateX itself on a simulated chain.
    const { ignition, ethers } = await hre.network.create();
    const { publicKeyRegistry } = await ignition.deploy(PublicKeyRegistryModule, {
      parameters: { PublicKeyRegistry: { initialOwner: OWNER } },
      strategy: "create2",
      strategyConfig: { salt: encodeBytes32String("keyroot.PublicKeyRegistry") },
    });
    ignitionsAddress = await publicKeyRegistry.getAddress();
    createX = await ethers.provider.getCode(CREATE_X);
  });

  async function startHardhatChain(): Promise<Chain> {
    const chain = connect(await startHardhat());
    await chain.provider.send("hardhat_setCode", [CREATE_X, createX]);
    return chain;
  }

  describe("on Hardhat's chain", () => {
    it("deploys to the same address on two chains, independent of the sender's nonce", async () => {
      await using one = await startHardhatChain();
      await using two = await startHardhatChain();
      await incrementNonce(two);

      const first = await deploy(one.url);
      const second = await deploy(two.url);
      expect(first.code).to.equal(0);
      const { deployedBytecode } = await hre.artifacts.readArtifact("PublicKeyRegistry");
      expect(first.json).to.deep.include({ chainId: 31337, codeHash: keccak256(deployedBytecode), existed: false });
      expect(first.json["contract"]).to.equal(ignitionsAddress);
      expect(second.json).to.deep.equal(first.json);
      for (const chain of [one, two]) expect(await ownerOf(chain, first.json)).to.equal(OWNER);
    });

    it("reports an existing registry and sends nothing, also if another account deployed it", async () => {
      await using chain = await startHardhatChain();
      const first = await deploy(chain.url);
      const blockNumber = await chain.provider.getBlockNumber();
      const again = await deploy(chain.url);
      expect(again.code).to.equal(0);
      expect(again.json).to.deep.equal({ ...first.json, existed: true });
      expect(await chain.provider.getBlockNumber()).to.equal(blockNumber);

      const { code, stdout } = await keyroot.run(deterministic(chain.url));
      expect(code).to.equal(0);
      expect(stdout).to.match(/^PublicKeyRegistry already exists at 0x\w{40} on chain 31337\. Nothing was sent\.\n/);
    });

    it("deploys to another address for another owner", async () => {
      await using chain = await startHardhatChain();
      const first = await deploy(chain.url);
      const other = await deploy(chain.url, OTHER_OWNER);
      expect(other.json["existed"]).to.equal(false);
      expect(other.json["contract"]).not.to.equal(first.json["contract"]);
      expect(await ownerOf(chain, other.json)).to.equal(OTHER_OWNER);
    });

    it("rejects other code at the address", async () => {
      await using chain = await startHardhatChain();
      const { json } = await deploy(chain.url);
      await chain.provider.send("hardhat_setCode", [json["contract"], "0x60"]);
      const again = await deploy(chain.url);
      expect([again.code, again.json.error?.["code"]]).to.deep.equal([1, "CODE_HASH_MISMATCH"]);
    });

    it("requires an owner", async () => {
      const { code, json } = await keyroot.json(["deploy", "--deterministic", "--rpc", "http://127.0.0.1:1"]);
      expect([code, json.error?.["code"]]).to.deep.equal([2, "ARGUMENT_INVALID"]);
      expect(json.error?.["message"]).to.include("--owner");
    });
  });

  describeOnAnvil("on other chains", () => {
    it("deploys to the same address as on Hardhat's chain", async () => {
      await using hardhat = await startHardhatChain();
      await using anvil = connect(await startAnvil());
      await anvil.provider.send("anvil_setCode", [CREATE_X, createX]);
      expect((await deploy(anvil.url)).json).to.deep.equal((await deploy(hardhat.url)).json);
    });

    it("names the remedy if the chain has no CreateX", async () => {
      await using chain = connect(await startAnvil("--chain-id", "4711"));
      const { code, json } = await keyroot.json([
        ...deterministic(chain.url, `0x${"ab".repeat(20)}`, "4711"),
        "--max-fee",
        "20",
      ]);
      expect([code, json.error?.["code"]]).to.deep.equal([2, "ARGUMENT_INVALID"]);
      expect(json.error?.["message"]).to.match(
        /chain 4711 has no code at 0xba5Ed.*https:\/\/createx\.rocks.*without --det/,
      );
    });
  });
});

interface Chain extends AsyncDisposable {
  url: string;
  provider: JsonRpcProvider;
}

function connect({ url, close }: { url: string; close: () => Promise<void> }): Chain {
  const provider = new JsonRpcProvider(url, undefined, { cacheTimeout: -1 });
  const dispose = async () => {
    provider.destroy();
    await close();
  };
  return { url, provider, [Symbol.asyncDispose]: dispose };
}

/** Sends a transaction from the account that deploys. */
async function incrementNonce({ provider }: Chain): Promise<void> {
  const signer = await provider.getSigner();
  await (await signer.sendTransaction({ to: ZeroAddress })).wait();
}

/** Reads the owner of a deployed registry. */
async function ownerOf({ provider }: Chain, deployed: Record<string, unknown>): Promise<unknown> {
  return new Contract(deployed["contract"] as string, publicKeyRegistryAbi, provider)["owner"]?.();
}
