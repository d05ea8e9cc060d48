import { expect } from "chai";
import { getAddress } from "ethers";
import { freshRegistry } from "../../support/chain/freshRegistry.ts";
import { program as keyroot } from "../../support/processes/commandLine.ts";

describe("transfer-ownership and accept-ownership", () => {
  const fresh = freshRegistry();

  const run = (command: string, options: string[] = [], chainId = "31337") => {
    const target = ["--rpc", fresh.rpcUrl, "--contract", fresh.contract, "--chain-id", chainId];
    return keyroot.json([command, ...target, ...options]);
  };
  const ownerOf = async () => (await run("status")).json["owner"];
  const to = (address: string) => ["--new-owner", address];

  it("change the owner only when the other account accepts", async () => {
    const [owner, stranger] = [getAddress(fresh.owner), getAddress(fresh.stranger)];
    const offered = await run("transfer-ownership", to(stranger));
    expect(offered.code, JSON.stringify(offered.json)).to.equal(0);
    expect(offered.json["transaction"]).to.match(/^0x[0-9a-f]{64}$/);
    expect(await ownerOf()).to.equal(owner);
    expect((await run("transfer-ownership", to(stranger))).json).to.deep.equal({ owner, pendingOwner: stranger });
    expect((await run("accept-ownership")).code).to.equal(0);
    expect(await ownerOf()).to.equal(stranger);
    expect(await run("accept-ownership")).to.include({ code: 2, error: "NOT_OWNER" });
  });

  it("print the call for a wallet with --call-only", async () => {
    const { json } = await run("transfer-ownership", [...to(fresh.stranger), "--call-only"]);
    expect(json).to.deep.equal({
      from: getAddress(fresh.owner),
      to: fresh.contract,
      value: "0",
      data: `0xf2fde38b${fresh.stranger.slice(2).toLowerCase().padStart(64, "0")}`,
    });
    expect(await run("accept-ownership")).to.include({ code: 2, error: "NOT_OWNER" });
    await fresh.send(fresh.owner, "transferOwnership", fresh.stranger);
    const accept = await run("accept-ownership", ["--call-only"]);
    expect(accept.json).to.include({ from: getAddress(fresh.stranger), data: "0x79ba5097" });
    expect(await ownerOf()).to.equal(getAddress(fresh.owner));
  });

  it("reject invalid owners, other chains and costs above the limits", async () => {
    for (const address of [fresh.owner, fresh.contract, "0x12", "alice"])
      expect(await run("transfer-ownership", to(address)), address).to.include({ code: 2, error: "ARGUMENT_INVALID" });
    expect(await run("transfer-ownership")).to.include({ code: 2, error: "ARGUMENT_INVALID" });
    expect(await run("transfer-ownership", [...to(fresh.stranger), "--max-fee", "20"], "1")).to.include({
      code: 1,
      error: "CHAIN_ID_MISMATCH",
    });
    for (const [error, ...limits] of [
      ["FEE_TOO_HIGH", "--max-fee", "0.000000001"],
      ["COST_LIMIT_REACHED", "--max-fee", "100", "--max-cost", "0.0000001"],
    ])
      expect(await run("transfer-ownership", [...to(fresh.stranger), ...limits])).to.include({ code: 3, error });
    expect(await run("accept-ownership")).to.include({ error: "NOT_OWNER" });
  });
});
