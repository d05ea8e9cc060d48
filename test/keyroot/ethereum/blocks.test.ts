import { expect } from "chai";
import hre from "hardhat";
import { fetchBlock, fetchChainId, fetchGenesisHash } from "../../../packages/keyroot/src/ethereum/blocks.ts";
import type { RpcCall } from "keyroot/internal/transport";
import { closedAfterEach, failure } from "../../support/support.ts";

describe("blocks", () => {
  const closing = closedAfterEach();
  const connect = async (): Promise<RpcCall> => {
    const { provider } = closing(await hre.network.create());
    return (method, params) => provider.request({ method, params: [...params] });
  };

  describe("fetchChainId", () => {
    it("returns the chain id as a number", async () => {
      expect(await fetchChainId(await connect())).to.equal(31337);
    });
  });

  describe("fetchGenesisHash", () => {
    it("returns the hash of the first block", async () => {
      const call = await connect();
      await call("hardhat_mine", ["0x3"]);
      expect(await fetchGenesisHash(call)).to.equal((await fetchBlock(call, 0)).hash);
    });

    for (const answer of [null, "0x", {}, { hash: "0x12" }, { hash: null }]) {
      it(`throws RPC_ANSWER_INVALID for ${JSON.stringify(answer)}`, async () => {
        expect(await failure(fetchGenesisHash(() => Promise.resolve(answer)))).to.include({
          name: "TransportError",
          code: "RPC_ANSWER_INVALID",
        });
      });
    }
  });
});
