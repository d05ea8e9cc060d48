import { expect } from "chai";
import { spawn } from "node:child_process";
import { freshRegistry } from "../../support/chain/freshRegistry.ts";
import { environment, npxHardhat as hardhat, outcomeOf } from "../../support/processes/commandLine.ts";

/** The key of the local chain's first account. */
const OWNER_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

describe("commands in Hardhat", function () {
  this.timeout(60_000);
  const fresh = freshRegistry();

  it("connect to the network of --network, with its configuration variables", async () => {
    const env = { KEYROOT_RPC_URL: fresh.rpcUrl, KEYROOT_OWNER_KEY: OWNER_KEY };
    const { code, json } = await hardhat.json(["status", "--network", "live", "--contract", fresh.contract], { env });
    expect(code).to.equal(0);
    expect(json).to.include({ contract: fresh.contract, chainId: fresh.chainId, owner: fresh.owner });
  });

  it("end with 2 if --network and --rpc are both given", async () => {
    const env = { KEYROOT_RPC_URL: fresh.rpcUrl, KEYROOT_OWNER_KEY: OWNER_KEY };
    const args = ["status", "--network", "live", "--rpc", fresh.rpcUrl, "--contract", fresh.contract];
    const { code, json } = await hardhat.json(args, { env });
    expect([code, json.error?.["code"]]).to.deep.equal([2, "ARGUMENT_INVALID"]);
  });

  it("end with 2 for a network that the project does not have", async () => {
    const { code, json } = await hardhat.json(["status", "--network", "nowhere", "--contract", fresh.contract]);
    expect([code, json.error?.["code"]]).to.deep.equal([2, "ARGUMENT_INVALID"]);
    expect(json.error?.["message"]).to.contain("nowhere");
  });

  it("end with 2 for invalid arguments after Hardhat's own options", async () => {
    const [node, cli, task] = hardhat.words;
    const args = [cli ?? "", "--network", "live", task ?? "", "status", "--an-unknown-option"];
    expect(await outcomeOf(spawn(node, args, { env: environment({}) }))).to.include({ code: 2, stdout: "" });
  });
});
