import { expect } from "chai";
import hre from "hardhat";
import { once } from "node:events";
import { TransportError } from "../../../packages/keyroot/src/errors.ts";
import { startLocalChain } from "../../../packages/service/src/stack/localChain.ts";
import { closedAfterEach, failure, hold, portOf, rpc } from "../../support/support.ts";

describe("the local chain", () => {
  const closing = closedAfterEach();
  const start = async (port = 0) => closing(await startLocalChain(hre, { port }));

  describe("JSON-RPC", () => {
    it("responds over HTTP", async () => {
      const { rpcUrl, chainId } = await start();
      expect(chainId).to.equal(31_337);
      expect(Number(await rpc(rpcUrl, "eth_chainId"))).to.equal(chainId);
    });

    it("uses the same chain as the direct connection", async () => {
      const { rpcUrl, connection } = await start();
      await rpc(rpcUrl, "evm_mine");
      expect(await connection.ethers.provider.getBlockNumber()).to.equal(1);
      await connection.provider.request({ method: "evm_mine" });
      expect(await rpc(rpcUrl, "eth_blockNumber")).to.equal("0x2");
    });

    it("mines blocks that are not in the future, however many it mines in a second", async () => {
      const { rpcUrl } = await start();
      for (let block = 0; block < 100; block++) await rpc(rpcUrl, "evm_mine");
      const { timestamp } = (await rpc(rpcUrl, "eth_getBlockByNumber", ["latest", false])) as { timestamp: string };
      expect(Number(timestamp) * 1000).to.be.at.most(Date.now());
    });

    it("accepts a request of several megabytes", async () => {
      const { rpcUrl } = await start();
      const data = `0x${"ab".repeat(2 ** 21)}`;
      expect(await rpc(rpcUrl, "web3_sha3", [data])).to.match(/^0x[0-9a-f]{64}$/);
    });

    it("notifies WebSocket subscribers of new blocks", async () => {
      const { rpcUrl } = await start();
      const socket = await subscribe(rpcUrl);
      const block = nextMessage(socket);
      await rpc(rpcUrl, "evm_mine");
      expect(await block).to.have.nested.property("params.result.number", "0x1");
    });
  });

  describe("several local chains", () => {
    it("are separate and have separate connections", async () => {
      const chains = await Promise.all([start(), start(), start()]);
      for (const [index, { connection }] of chains.entries()) {
        for (let block = 0; block < index; block++) await connection.provider.request({ method: "evm_mine" });
      }
      const heights = await Promise.all(chains.map(({ rpcUrl }) => rpc(rpcUrl, "eth_blockNumber")));
      expect(heights).to.deep.equal(["0x0", "0x1", "0x2"]);
    });
  });

  describe("a port in use", () => {
    it("is replaced by a later port", async () => {
      const taken = portOf(closing(await hold(0)));
      expect(Number(new URL((await start(taken)).rpcUrl).port)).to.be.greaterThan(taken);
    });

    it("is reported if no later port is free", async () => {
      await hold(65_535).then(closing, () => undefined);
      const error = await failure(start(65_535));
      expect(error).to.be.an.instanceof(TransportError).with.property("code", "PORT_UNAVAILABLE");
    });
  });

  describe("close", () => {
    it("ends a WebSocket with a subscription immediately", async () => {
      const chain = await start();
      const socket = await subscribe(chain.rpcUrl);
      await Promise.all([once(socket, "close"), chain.close()]);
    });

    it("can be repeated", async () => {
      const chain = await start();
      await Promise.all([chain.close(), chain.close()]);
      await chain.close();
    });
  });
});

async function subscribe(rpcUrl: string): Promise<WebSocket> {
  const socket = new WebSocket(rpcUrl.replace("http", "ws"));
  await once(socket, "open");
  const answer = nextMessage(socket);
  socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params: ["newHeads"] }));
  expect(await answer).to.have.property("result");
  return socket;
}

async function nextMessage(socket: WebSocket): Promise<unknown> {
  const [event] = (await once(socket, "message")) as [MessageEvent<string>];
  return JSON.parse(event.data);
}
