import { expect } from "chai";
import { TransportError } from "keyroot/internal/errors";
import { extractHeader, fetchBlock } from "keyroot/internal/ethereum";
import { rpcCaller } from "keyroot/internal/transport";
import { audit, type AuditState, type PollOptions, WatchState } from "@keyroot/operator/audit";
import { checkBlock } from "../../../packages/operator/src/follow/index.ts";
import { hashHeader } from "../../../packages/keyroot/src/ethereum/header.ts";
import { auditedWorld, LIMITS, outcomeOf, poll as pollWorld } from "../../support/chain/auditedWorld.ts";
import type { Lie } from "../../support/chain/lyingEndpoint.ts";
import { sampleRecords } from "../../support/samples.ts";
import { failure } from "../../support/support.ts";

const records = sampleRecords(6);
const FAR = 2 ** 52;

describe("if an endpoint returns false blocks", () => {
  const world = auditedWorld();

  /** Makes the endpoint report a changed number or time for its newest block. Its other responses are true. */
  const withHead = (change: (head: { number: number; timestamp: number }) => { number: number; timestamp: number }) => {
    const lie: Lie = async (method, params, truth) => {
      const head = await fetchBlock(truth, "latest");
      if (method === "eth_getBlockByNumber" && params[0] === "latest") {
        const block = { ...((await truth(method, params)) as Record<string, unknown>) };
        const { number, timestamp } = change(head);
        block["number"] = `0x${number.toString(16)}`;
        block["timestamp"] = `0x${timestamp.toString(16)}`;
        return { ...block, hash: hashHeader(extractHeader(block)).hash };
      }
      if (method === "eth_call" && typeof params[1] === "object") return truth(method, [params[0], "latest"]);
      if (method === "eth_getLogs") {
        const filter = params[0] as { fromBlock: string; toBlock: string };
        if (Number(filter.fromBlock) > head.number) return [];
        const toBlock = `0x${Math.min(Number(filter.toBlock), head.number).toString(16)}`;
        return truth(method, [{ ...filter, toBlock }]);
      }
      return truth(method, params);
    };
    world.lie(lie);
  };
  /** Makes the endpoint hide all events after a block. It still returns newer blocks. */
  const hideSince = (blockHash: string) => {
    world.lie((method, params, truth) => {
      if (method === "eth_getLogs") return [];
      return method === "eth_call" ? truth(method, [params[0], { blockHash }]) : truth(method, params);
    });
  };

  describe("poll", () => {
    let state: WatchState;
    beforeEach(async () => {
      const { hash: genesisHash } = await fetchBlock(world.fresh.call, 0);
      state = await WatchState.open(undefined, { chainId: 1, genesisHash, contract: world.fresh.contract });
    });
    const poll = async (changes: Partial<PollOptions> = {}) => {
      const { added, findings } = await pollWorld({ ...world.pollOptions(), state, ...changes });
      return { roots: added.map(({ root }) => root), codes: findings.map(({ code }) => code) };
    };

    it("reports only once that a saved block is above the newest block", async () => {
      withHead(({ timestamp }) => ({ number: FAR, timestamp }));
      await poll();
      expect(state.cursors.at(-1)?.number).to.equal(FAR);
      world.lie();
      const root = await world.publish(records.slice(0, 2));
      expect(await poll()).to.deep.equal({ roots: [root], codes: ["CURSOR_ABOVE_HEAD"] });
      expect(await poll()).to.deep.equal({ roots: [], codes: [] });
    });

    it("continues from the newest saved block that is still on the chain", async () => {
      const first = await world.publish(records.slice(0, 2));
      await poll();
      withHead(({ timestamp }) => ({ number: FAR, timestamp }));
      await poll();
      world.lie();
      const root = await world.publish(records.slice(2, 4));
      const { roots, codes } = await poll();
      expect([roots, codes]).to.deep.equal([[root], ["CURSOR_ABOVE_HEAD"]]);
      expect(roots).to.not.include(first);
    });

    it("reads new events after a reorganization that leaves the number of users unchanged", async () => {
      await poll();
      const snapshot = await world.fresh.call("evm_snapshot", []);
      await world.publish(records.slice(0, 2));
      await poll();
      await world.fresh.call("evm_revert", [snapshot]);
      const root = await world.publish(records.slice(2, 4));
      expect(await poll()).to.deep.equal({ roots: [root], codes: ["CHAIN_REORGANIZED"] });
    });

    for (const which of ["first", "second"])
      it(`later reads events that the endpoint withheld from the ${which} poll`, async () => {
        if (which === "second") {
          await world.publish(records.slice(0, 2));
          await poll();
        }
        const before = await world.head();
        const hidden = await world.publish(records.slice(2, 4));
        hideSince(before);
        expect(await poll()).to.deep.equal({ roots: [], codes: [] });
        world.lie();
        expect(await poll()).to.deep.equal({ roots: [hidden], codes: ["LOG_WITHHELD"] });
        expect(await poll()).to.deep.equal({ roots: [], codes: [] });
      });

    it("saves no block while the endpoint withholds events", async () => {
      await poll();
      const { number } = state.cursors.at(-1) ?? {};
      const root = await world.publish(records.slice(0, 2));
      world.lie((method, params, truth) => (method === "eth_getLogs" ? [] : truth(method, params)));
      expect(await poll()).to.deep.equal({ roots: [], codes: ["LOG_WITHHELD"] });
      expect(state.cursors.at(-1)?.number).to.equal(number);
      world.lie();
      expect(await poll()).to.deep.equal({ roots: [root], codes: [] });
    });

    it("rejects a block with an impossible time or number", async () => {
      const { timestamp } = await fetchBlock(world.fresh.call, "latest");
      const onMain = (lie: () => void) => {
        lie();
        return poll({ chainId: 1, now: () => timestamp * 1000, call: asMain(rpcCaller(world.url, LIMITS)) });
      };
      await onMain(() => {
        world.lie();
      });
      for (const change of [
        { timestamp: timestamp + 121, number: 0, code: "FUTURE_BLOCK" },
        { timestamp: timestamp + 119, number: FAR, code: "RPC_ANSWER_INVALID" },
        { timestamp: timestamp + 119, number: 119 * 100 + 1, code: "RPC_ANSWER_INVALID" },
      ]) {
        const lie = () => {
          withHead(({ number }) => ({ number: number + change.number, timestamp: change.timestamp }));
        };
        const error = await failure(onMain(lie));
        expect(error).to.be.instanceOf(TransportError).and.include({ code: change.code });
      }
      expect(state.cursors).to.have.lengthOf(1);
    });
  });

  describe("audit", () => {
    let state: AuditState;
    beforeEach(async () => {
      state = await world.openState();
    });
    afterEach(() => {
      state[Symbol.dispose]();
    });
    const audited = async () => outcomeOf(await world.audit({ state }));

    it("reads events that the endpoint withheld from an earlier audit", async () => {
      await world.publish(records.slice(0, 2));
      const before = await world.head();
      await world.publish(records.slice(2, 4));
      world.lie((method, params, truth) => {
        if (method === "eth_call") return truth(method, [params[0], { blockHash: before }]);
        return method === "eth_getLogs" ? hideLast(truth(method, params)) : truth(method, params);
      });
      expect(await audited()).to.deep.equal({ verdict: "passed", codes: [] });
      world.lie();
      expect(await audited()).to.deep.equal({ verdict: "passed", codes: [] });
      expect(state.events).to.have.lengthOf(2);
    });
    const hideLast = async (logs: Promise<unknown>) => ((await logs) as unknown[]).slice(0, 1);

    it("reports only once that a saved block is above the newest block", async () => {
      await world.publish(records.slice(0, 2));
      withHead(({ timestamp }) => ({ number: FAR, timestamp }));
      expect(await audited()).to.deep.equal({ verdict: "passed", codes: [] });
      expect(state.cursor?.number).to.equal(FAR);
      world.lie();
      expect(await audited()).to.deep.equal({ verdict: "damage", codes: ["CURSOR_ABOVE_HEAD"] });
      expect(await audited()).to.deep.equal({ verdict: "passed", codes: [] });
      expect(state.cursor?.hash).to.equal(await world.head());
    });

    it("rejects a block with a time in the future", async () => {
      withHead(({ number }) => ({ number, timestamp: Math.round(Date.now() / 1000) + 100_000 }));
      const { contract } = world.fresh;
      const auditing = audit({
        call: asMain(rpcCaller(world.url, LIMITS)),
        ...{ chainId: 1, contract, files: { merkleUrl: world.fresh.merkleUrl, ...LIMITS }, workers: 0 },
      });
      expect(await failure(auditing))
        .to.be.instanceOf(TransportError)
        .and.include({ code: "FUTURE_BLOCK" });
    });

    it("reports events in the wrong order", async () => {
      const roots = [await world.publish(records.slice(0, 2)), await world.publish(records.slice(2, 4))];
      const at = { blockHash: await world.head(), source: "light-client" } as const;
      const proven = () => world.audit({ at, storageProof: true });
      expect((await proven()).events.map(({ root }) => root)).to.deep.equal(roots);
      const blocks = new Map<unknown, unknown>();
      /** Exchanges the blocks of the two roots in events and in the contract's answers. */
      world.lie(async (method, params, truth) => {
        const answer = await truth(method, params);
        if (method === "eth_getLogs") {
          const [first, second] = answer as Record<string, unknown>[];
          if (first === undefined || second === undefined) return answer;
          blocks.set(first["blockNumber"], second["blockNumber"]).set(second["blockNumber"], first["blockNumber"]);
          const place = ({ blockNumber, blockHash, logIndex }: Record<string, unknown>) => ({
            blockNumber,
            blockHash,
            logIndex,
          });
          return [
            { ...second, ...place(first) },
            { ...first, ...place(second) },
          ];
        }
        const number = typeof answer === "string" && answer.length === 66 ? `0x${BigInt(answer).toString(16)}` : "";
        return method === "eth_call" && blocks.has(number)
          ? `0x${BigInt(String(blocks.get(number)))
              .toString(16)
              .padStart(64, "0")}`
          : answer;
      });
      expect(outcomeOf(await proven())).to.deep.equal({
        verdict: "damage",
        codes: ["BLOCK_NUMBER_MISMATCH", "BLOCK_NUMBER_MISMATCH"],
      });
    });

    it("keeps the newer saved block when it audits an older block", async () => {
      await world.publish(records.slice(0, 2));
      const older = await world.head();
      await world.publish(records.slice(2, 4));
      await audited();
      const { cursor } = state;
      expect(outcomeOf(await world.audit({ state, at: { blockHash: older } })).verdict).to.equal("passed");
      expect(state.cursor).to.deep.equal(cursor);
    });
  });

  describe("checkBlock", () => {
    it("accepts a block at the limits of number and time, and rejects a block above them", () => {
      const last = { number: 1_000, hash: "", timestamp: 1_700_000_000 };
      const block = { hash: "", parentHash: "", stateRoot: "", number: 2_000, timestamp: 1_700_000_010 };
      const at = (s: number) => ({ chainId: 1, last, now: () => s * 1000 });
      checkBlock(block, at(1_700_000_010));
      checkBlock(block, at(1_700_000_010 - 120));
      expect(() => {
        checkBlock({ ...block, number: 2_001 }, at(1_700_000_010));
      }).to.throw("no chain makes so many blocks");
      expect(() => {
        checkBlock(block, at(1_700_000_010 - 121));
      }).to.throw("ahead of this machine's clock");
    });
  });

  /** Makes the endpoint report the chain id of Ethereum mainnet. */
  function asMain(call: ReturnType<typeof rpcCaller>): typeof call {
    return async (method, params) => (method === "eth_chainId" ? "0x1" : call(method, params));
  }
});
