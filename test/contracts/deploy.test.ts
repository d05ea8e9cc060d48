import { publicKeyRegistryAbi } from "@keyroot/contracts";
import { expect } from "chai";
import { Contract, JsonRpcProvider, keccak256, ZeroAddress } from "ethers";
import hre from "hardhat";
import { readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { describeOnAnvil, startAnvil } from "../support/anvil/anvil.ts";
import { startHardhat } from "../support/chain/freshRegistry.ts";
import { hardhat } from "../support/processes/commandLine.ts";

const DEPLOYMENTS = join(hre.config.paths.ignition, "deployments");
const OWNER = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const OTHER_OWNER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

const deterministic = (rpc: string, owner = OWNER) => ["deploy", "--deterministic", "--rpc", rpc, "--owner", owner];
const deploy = (rpc: string, owner?: string) => hardhat.json(deterministic(rpc, owner));

/** The records that Ignition keeps of deterministic deployments. */
async function listRecords(): Promise<string[]> {
  return (await readdir(DEPLOYMENTS).catch(() => [])).filter((name) => name.endsWith("-create2"));
}

describe("keyroot deploy --deterministic", function () {
  this.timeout(120_000);
  let before: string[];

  /** Removes the records of this test. */
  async function removeNewRecords(): Promise<void> {
    const added = (await listRecords()).filter((name) => !before.includes(name));
    for (const name of added) await rm(join(DEPLOYMENTS, name), { recursive: true });
  }

  beforeEach(async () => {
    before = await listRecords();
  });
  afterEach(async () => {
    await removeNewRecords();
    // Fails if other records remain.
    await rmdir(DEPLOYMENTS).catch(() => undefined);
  });

  describe("on Hardhat's chain", () => {
    it("deploys to the same address on two chains, independent of the sender's nonce", async () => {
      await using one = await startHardhatChain();
      await using two = await startHardhatChain();
      await incrementNonce(two);

      const first = await deploy(one.url);
      // Two chains started in the same second have the same genesis block, and so the same record.
      await removeNewRecords();
      const second = await deploy(two.url);
      expect(first.code).to.equal(0);
      const { deployedBytecode } = await hre.artifacts.readArtifact("PublicKeyRegistry");
      expect(first.json).to.deep.include({ chainId: 31337, codeHash: keccak256(deployedBytecode), existed: false });
      expect(second.json).to.deep.equal(first.json);
      for (const chain of [one, two]) expect(await ownerOf(chain, first.json)).to.equal(OWNER);
    });

    it("reports an existing registry and sends nothing, also if another account deployed it", async () => {
      await using chain = await startHardhatChain();
      const first = await deploy(chain.url);
      const blockNumber = await chain.provider.getBlockNumber();
      // Without Ignition's record, the registry looks as if another operator had deployed it.
      await removeNewRecords();
      const again = await deploy(chain.url);
      expect(again.code).to.equal(0);
      expect(again.json).to.deep.equal({ ...first.json, existed: true });
      expect(await chain.provider.getBlockNumber()).to.equal(blockNumber);

      const { code, stdout } = await hardhat.run(deterministic(chain.url));
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

    it("rejects a record of another chain", async () => {
      await using chain = await startHardhatChain();
      const snapshot: unknown = await chain.provider.send("evm_snapshot", []);
      await deploy(chain.url);
      await chain.provider.send("evm_revert", [snapshot]);
      const { code, json } = await deploy(chain.url);
      expect([code, json.error?.["code"]]).to.deep.equal([1, "NO_CONTRACT"]);
      const [record = ""] = (await listRecords()).filter((name) => !before.includes(name));
      expect(json.error?.["message"]).to.include(`Delete ${join(DEPLOYMENTS, record)} `);
    });

    it("requires an owner", async () => {
      const { code, json } = await hardhat.json(["deploy", "--deterministic", "--rpc", "http://127.0.0.1:1"]);
      expect([code, json.error?.["code"]]).to.deep.equal([2, "ARGUMENT_INVALID"]);
      expect(json.error?.["message"]).to.include("--owner");
    });
  });

  describeOnAnvil("on other chains", () => {
    it("deploys to the same address as on Hardhat's chain", async () => {
      await using hardhat = await startHardhatChain();
      await using anvil = await startAnvilChain();
      expect((await deploy(anvil.url)).json).to.deep.equal((await deploy(hardhat.url)).json);
    });

    it("names the remedy if the chain has no CreateX", async () => {
      await using chain = await startAnvilChain("--chain-id", "4711");
      const { code, json } = await deploy(chain.url);
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

async function startHardhatChain(): Promise<Chain> {
  return connect(await startHardhat());
}

async function startAnvilChain(...options: string[]): Promise<Chain> {
  return connect(await startAnvil(...options));
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
