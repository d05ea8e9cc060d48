import { expect } from "chai";
import { id } from "ethers";
import { TransportError, userIDToHex } from "keyroot";
import { toQuantity } from "keyroot/internal/ethereum";
import { fetchRootAddedLogs, ROOT_ADDED_TOPIC } from "../../../packages/keyroot/src/registry/events.ts";
import type { RpcCall } from "keyroot/internal/transport";
import { freshRegistry } from "../../support/chain/freshRegistry.ts";
import { sampleUserID, sha256 } from "../../support/samples.ts";
import { failure } from "../../support/support.ts";

type Log = Record<string, unknown> & { topics: string[] };

const [ROOT, OTHER_ROOT] = [sha256("root"), sha256("other")];

describe("events of the registry", () => {
  const registry = freshRegistry();
  const add = (root: string, ...users: number[]) =>
    registry.send(
      registry.owner,
      "addMerkleTreeRoot",
      `0x${root}`,
      `0x${users.map((user) => userIDToHex(sampleUserID(user))).join("")}`,
    );
  const head = async () => Number(await registry.call("eth_blockNumber", []));
  const fetchAll = async (call: RpcCall = registry.call) =>
    fetchRootAddedLogs(call, registry.contract, { fromBlock: 0, toBlock: await head() });
  /** Creates a call that changes the logs in the response. */
  const changing =
    (change: (logs: Log[]) => unknown): RpcCall =>
    async (method, params) => {
      const answer = await registry.call(method, params);
      return method === "eth_getLogs" ? change(answer as Log[]) : answer;
    };

  describe("ROOT_ADDED_TOPIC", () => {
    it("is Keccak-256 of the event's signature", () => {
      expect(ROOT_ADDED_TOPIC).to.equal(id("MerkleTreeRootAdded(bytes32,uint256)"));
    });
  });

  describe("fetchRootAddedLogs", () => {
    beforeEach(async () => {
      await add(ROOT, 1, 2);
      await add(OTHER_ROOT, 2, 3);
    });

    it("returns the events in the order of the chain", async () => {
      const logs = await fetchAll();
      expect(logs.map(({ root, addedCount }) => [root, addedCount])).to.deep.equal([
        [ROOT, 2],
        [OTHER_ROOT, 1],
      ]);
      expect(await fetchAll(changing((logs) => logs.toReversed()))).to.deep.equal(logs);
    });

    it("halves a range that the endpoint rejects", async () => {
      const sizes: number[] = [];
      const limited: RpcCall = (method, params) => {
        const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }];
        const size = Number(toBlock) - Number(fromBlock) + 1;
        sizes.push(size);
        if (size > 2) return Promise.reject(new TransportError("RPC_ERROR", "range too wide"));
        return registry.call(method, params);
      };
      const toBlock = await head();
      const read: number[] = [];
      const logs = await fetchRootAddedLogs(limited, registry.contract, { fromBlock: 0, toBlock }, (block) => {
        read.push(block);
      });
      expect(logs).to.deep.equal(await fetchAll());
      expect(Math.max(...sizes)).to.be.above(2);
      expect(read.at(-1)).to.equal(toBlock);
    });

    it("throws the endpoint's error for a range of one block", async () => {
      const error = new TransportError("RPC_ERROR", "no");
      expect(await failure(fetchAll(() => Promise.reject(error)))).to.equal(error);
    });

    const first = (change: object) => (logs: Log[]) => logs.map((log, i) => (i === 0 ? { ...log, ...change } : log));
    const lies: [string, (logs: Log[]) => unknown][] = [
      ["a log of another contract", first({ address: `0x${"11".repeat(20)}` })],
      ["a log of another event", (logs) => first({ topics: [id("Other()"), logs[0]?.topics[1]] })(logs)],
      ["a log with three topics", (logs) => first({ topics: [...(logs[0]?.topics ?? []), id("topic")] })(logs)],
      ["a log without its root", first({ topics: [ROOT_ADDED_TOPIC] })],
      ["a log without users", first({ data: `0x${"0".repeat(64)}` })],
      ["a log with short data", first({ data: "0x01" })],
      ["a log of a block outside the range", first({ blockNumber: toQuantity(10 ** 6) })],
      ["a repeated log", (logs) => [...logs, ...logs.slice(0, 1)]],
      ["two hashes of one block", ([log]) => [log, { ...log, blockHash: id("block"), logIndex: "0x7" }]],
      ["a removed log", first({ removed: true })],
      ["null", () => null],
    ];
    for (const [name, change] of lies) {
      it(`throws RPC_ANSWER_INVALID for ${name}`, async () => {
        expect(await failure(fetchAll(changing(change)))).to.include({
          name: "TransportError",
          code: "RPC_ANSWER_INVALID",
        });
      });
    }
  });
});
