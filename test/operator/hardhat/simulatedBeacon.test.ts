import { expect } from "chai";
import { createHardhatRuntimeEnvironment } from "hardhat/hre";
import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import { makeBlockProof } from "keyroot/light-client";
import keyroot from "@keyroot/operator/hardhat";
import { failure } from "../../support/support.ts";

describe("connection.keyroot.simulateBeacon", () => {
  let hre: HardhatRuntimeEnvironment;

  before(async () => {
    hre = await createHardhatRuntimeEnvironment({ plugins: [keyroot] });
  });

  /** Returns the block that the light client finds with an endpoint. */
  const blockOf = async (beacon: { urls: string[]; checkpoint: string }) =>
    (await makeBlockProof({ ...beacon, chainId: 31_337 })).blockHash;

  it("returns the option with which a light client finds the chain's newest block", async () => {
    const connection = await hre.network.create();
    const { keyroot, provider } = connection;
    const beacon = await keyroot.simulateBeacon();
    const newest = async () =>
      ((await provider.request({ method: "eth_getBlockByNumber", params: ["latest", false] })) as { hash: string })
        .hash;
    expect(await blockOf(beacon)).to.equal(await newest());
    await provider.request({ method: "hardhat_mine", params: ["0x2"] });
    expect(await blockOf(beacon)).to.equal(await newest());
    await connection.close();
  });

  it("starts one endpoint per connection", async () => {
    const [one, other] = [await hre.network.create(), await hre.network.create()];
    const { urls } = await one.keyroot.simulateBeacon();
    expect((await one.keyroot.simulateBeacon()).urls).to.deep.equal(urls);
    expect((await other.keyroot.simulateBeacon()).urls).to.not.deep.equal(urls);
    await one.close();
    expect(await failure(fetch(String(urls)))).to.be.instanceOf(TypeError);
    await other.close();
  });
});
