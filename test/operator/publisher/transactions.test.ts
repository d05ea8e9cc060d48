import { expect } from "chai";
import { setTimeout as sleep } from "node:timers/promises";
import { TransportError } from "../../../packages/keyroot/src/errors.ts";
import { endpointSender } from "../../../packages/operator/src/publisher/signers/endpointSender.ts";
import type { Batch } from "../../../packages/operator/src/publisher/plan/plan.ts";
import { type Journal, MemoryJournal } from "../../../packages/operator/src/publisher/journal/folderJournal.ts";
import {
  DEFAULT_SEND_OPTIONS,
  type SendOptions,
  type SendTransaction,
  type TransactionEvent,
  Transactions,
} from "../../../packages/operator/src/publisher/transactions/transactions.ts";
import { startFaultyProxy } from "../../../fixtures/publisher/faultyEndpoint.ts";
import { sampleUserID, sha256 } from "../../../fixtures/samples.ts";
import { closedAfterEach, failure } from "../../support/support.ts";
import { type RpcCall, rpcCaller } from "../../../packages/keyroot/src/transport/jsonRpc.ts";
import { describeOnBoth, freshRegistry, rawSender } from "../../../fixtures/freshRegistry.ts";

const USERS = 3;
/** Batches whose files nobody asks for. */
const batches = (count: number, seed = 1): Batch[] =>
  Array.from({ length: count }, (_, i) => ({
    root: sha256(`${seed} ${i}`),
    fileBytes: 1,
    users: USERS,
    userIDs: Array.from({ length: USERS }, (_, j) => sampleUserID(i * USERS + j, seed)).toSorted(),
  }));

describeOnBoth("Transactions", (startChain) => {
  const fresh = freshRegistry(startChain);
  const closing = closedAfterEach();
  let events: TransactionEvent[];
  beforeEach(() => {
    events = [];
  });
  afterEach(async () => {
    await fresh.call("evm_setAutomine", [true]);
    await fresh.call("evm_mine", []);
  });

  interface Run {
    via?: RpcCall;
    send?: SendTransaction;
    journal?: Journal;
    options?: Partial<SendOptions>;
  }
  const run = async (some: readonly Batch[], { via, send, journal = new MemoryJournal(), options }: Run = {}) => {
    const registry = await fresh.connect(via);
    const sending = { ...DEFAULT_SEND_OPTIONS, pollMs: 5, stuckAfterMs: 60, timeoutMs: 3_000, ...options };
    const tell = (event: TransactionEvent) => void events.push(event);
    await new Transactions(registry, send ?? (await endpointSender(registry)), journal, sending, tell).run(some);
  };
  const hashOfSent = () =>
    events.flatMap((event) => (event.event === "sent" && event.hash !== undefined ? [event.hash] : []))[0];
  const told = (name: string) => events.filter(({ event }) => event === name).length;
  const count = async (tag = "latest") => Number(await fresh.call("eth_getTransactionCount", [fresh.owner, tag]));
  const nonceOf = (params: readonly unknown[]) => Number((params[0] as { nonce: string }).nonce);
  /** Whether all users of some batches have their batch's root. */
  const expectAdded = async (some: readonly Batch[]) => {
    const registry = await fresh.connect();
    for (const { root, userIDs } of some) {
      expect(await registry.getMerkleTreeRoots(userIDs)).to.deep.equal(userIDs.map(() => root));
    }
  };
  /** The endpoint, with something that happens at each call of a method. */
  const at =
    (
      method: string,
      happen: (go: () => Promise<unknown>, params: readonly unknown[], time: number) => unknown,
      time = 0,
    ): RpcCall =>
    async (called, params) =>
      called === method ? await happen(() => fresh.call(called, params), params, ++time) : fresh.call(called, params);
  const mineEvery = (ms: number) => {
    const timer = setInterval(() => void fresh.call("evm_mine", []), ms);
    return {
      close: () => {
        clearInterval(timer);
      },
    };
  };
  const stopMining = () => fresh.call("evm_setAutomine", [false]);

  describe("as a rule", () => {
    it("adds each root by one transaction, with nonces in a row", async () => {
      const some = batches(5);
      const before = await count();
      await run(some);
      await expectAdded(some);
      expect(await count()).to.equal(before + 5);
      expect([told("sent"), told("included"), told("replaced")]).to.deep.equal([5, 5, 0]);
    });

    it("tells each transaction's block, gas and price", async () => {
      await run(batches(1));
      const included = events.find(({ event }) => event === "included");
      expect(included).to.have.property("added").that.includes({ addedCount: USERS });
    });

    it("has as many on their way at once as asked for, and no more", async () => {
      await stopMining();
      const some = batches(7);
      let most = 0;
      const registry = await fresh.connect();
      const start = await count();
      const watching = at("eth_sendTransaction", async (go) => {
        const answer = await go();
        most = Math.max(most, (await registry.chain.transactionCount(fresh.owner, "pending")) - (await count()));
        return answer;
      });
      closing(mineEvery(400));
      await run(some, { via: watching, options: { inFlight: 3, stuckAfterMs: 60_000 } });
      await expectAdded(some);
      expect([most, (await count()) - start]).to.deep.equal([3, 7]);
    });

    it("takes nonces after transactions of the owner's that wait for a block", async () => {
      await stopMining();
      await fresh.send(fresh.owner, "transferOwnership", fresh.stranger);
      closing(mineEvery(40));
      const some = batches(2);
      await run(some);
      await expectAdded(some);
    });

    it("lists the slots that a transaction touches, where asked to", async () => {
      await run(batches(1), { options: { accessList: true } });
      const hash = hashOfSent();
      const { accessList } = (await fresh.call("eth_getTransactionByHash", [hash])) as {
        accessList: { storageKeys: string[] }[];
      };
      expect(accessList[0]?.storageKeys).to.have.lengthOf(USERS);
    });
  });

  describe("fees", () => {
    it("sends nothing while gas costs more than allowed, and says so when it gives up", async () => {
      const before = await count();
      const error = await failure(run(batches(1), { options: { maxFeePerGas: 7n, timeoutMs: 100 } }));
      expect(error).to.be.an.instanceof(TransportError).with.property("code", "FEE_TOO_HIGH");
      expect([await count(), told("waiting")]).to.deep.equal([before, 1]);
    });

    it("replaces a transaction that blocks pass by, for more, until one takes it", async () => {
      await stopMining();
      await fresh.call("hardhat_setNextBlockBaseFeePerGas", ["0x3b9aca00"]);
      await fresh.call("evm_mine", []);
      const [batch = never()] = batches(1);
      const journal = new MemoryJournal();
      // An earlier run offered next to nothing.
      await journal.recordAttempt({
        nonce: await count(),
        root: batch.root,
        gas: 300_000,
        fees: { maxFeePerGas: 3n, maxPriorityFeePerGas: 1n },
      });
      closing(mineEvery(40));
      await run([batch], { journal });
      await expectAdded([batch]);
      expect([told("sent"), told("replaced") > 0]).to.deep.equal([0, true]);
    });

    it("sends a transaction again for the same, where no block came", async () => {
      await stopMining();
      const fees = new Set<string>();
      let sent = 0;
      const via = at("eth_sendTransaction", async (go, params) => {
        fees.add((params[0] as { maxFeePerGas: string }).maxFeePerGas);
        if (++sent === 3) setTimeout(() => void fresh.call("evm_mine", []), 10);
        return go();
      });
      await run(batches(1), { via });
      expect([sent >= 3, fees.size]).to.deep.equal([true, 1]);
    });

    it("never offers more than allowed", async () => {
      await stopMining();
      const { maxFeePerGas } = await priceNow();
      const offers: bigint[] = [];
      const via = at("eth_sendTransaction", (go, params) => {
        offers.push(BigInt((params[0] as { maxFeePerGas: string }).maxFeePerGas));
        return go();
      });
      const some = batches(1);
      const running = run(some, { via, options: { maxFeePerGas, timeoutMs: 400, stuckAfterMs: 30 } });
      setTimeout(() => void fresh.call("evm_mine", []), 300);
      await running;
      expect(offers.every((wei) => wei <= maxFeePerGas)).to.be.true;
    });
    const priceNow = async () => {
      const { chain } = await fresh.connect();
      const { baseFeePerGas = 0n, tip } = await chain.market(await chain.block("latest"));
      return { maxFeePerGas: baseFeePerGas + tip };
    };
  });

  describe("when something goes wrong", () => {
    it("sends again what the node forgot", async () => {
      const some = batches(4);
      const proxy = closing(await startFaultyProxy(fresh.rpcUrl));
      proxy.plan("dropped", { after: 1, times: 2 });
      const via = rpcCaller(proxy.url, { maxBytes: 2 ** 20, timeoutMs: 1_000 });
      const before = await count();
      await run(some, { via, send: rawSender(via, fresh.chainId) });
      await expectAdded(some);
      expect([proxy.count("dropped"), (await count()) - before]).to.deep.equal([2, 4]);
    });

    for (const fault of [
      "nonceTooLow",
      "nonceTooLowAfter",
      "alreadyKnown",
      "alreadyKnownAfter",
      "underpriced",
      "underpricedAfter",
      "poolFull",
      "resetBefore",
      "resetAfter",
      "badGatewayAfter",
      "tooManyRequests",
      "otherHash",
      "garbage",
      "sentTwice",
    ] as const) {
      it(`adds each root once where the answer to its sending is: ${fault}`, async () => {
        const some = batches(3);
        const proxy = closing(await startFaultyProxy(fresh.rpcUrl));
        proxy.plan(fault, { methods: ["eth_sendRawTransaction"], after: 1 });
        const via = rpcCaller(proxy.url, { maxBytes: 2 ** 20, timeoutMs: 1_000 });
        const before = await count();
        await run(some, { via, send: rawSender(via, fresh.chainId) });
        await expectAdded(some);
        expect([proxy.count(fault), (await count()) - before]).to.deep.equal([1, 3]);
      });
    }

    it("gives a batch another nonce where somebody with the same key used its own up", async () => {
      await stopMining();
      const some = batches(2);
      let taken = false;
      const via = at("eth_sendTransaction", async (go, params) => {
        if (!taken) {
          taken = true;
          const data = "0x8da5cb5b";
          await fresh.call("eth_sendTransaction", [
            {
              from: fresh.owner,
              to: fresh.contract,
              data,
              gas: "0xffff",
              nonce: `0x${nonceOf(params).toString(16)}`,
              maxFeePerGas: "0x174876e800",
              maxPriorityFeePerGas: "0x174876e800",
            },
          ]);
          await fresh.call("evm_setAutomine", [true]);
          await fresh.call("evm_mine", []);
        }
        return go();
      });
      await run(some, { via });
      await expectAdded(some);
      expect(told("displaced")).to.be.greaterThan(0);
    });

    it("closes a gap that another's transaction left behind", async () => {
      const some = batches(2);
      const next = await count();
      const ahead = `0x${(next + 1).toString(16)}`;
      // The endpoint counts a transaction that is gone before it comes into a block.
      const via = at("eth_getTransactionCount", (go, params, time) =>
        params[1] === "pending" && time < 4 ? ahead : go(),
      );
      await run(some, { via });
      await expectAdded(some);
    });

    it("goes on with the nonces of a run that ended, sent or not", async () => {
      await stopMining();
      const some = batches(4);
      const journal = new MemoryJournal();
      let sent = 0;
      const via = at("eth_sendTransaction", (go) => {
        if (++sent === 3) throw new Error("killed");
        return go();
      });
      expect(await failure(run(some, { via, journal }))).to.have.property("message", "killed");
      expect(journal.attempts()).to.have.lengthOf(3);
      const before = await count();
      closing(mineEvery(40));
      await run(some, { journal });
      await expectAdded(some);
      expect((await count()) - before).to.equal(4);
    });

    it("says which transaction it gave up on", async () => {
      await stopMining();
      const error = await failure(run(batches(1), { options: { timeoutMs: 100 } }));
      expect(error).to.be.an.instanceof(TransportError).with.property("code", "NO_RECEIPT");
      const hash = hashOfSent() ?? never();
      expect((error as Error).message).to.contain(hash);
    });

    it("says when a transaction was reverted, as where the owner changed in the meantime", async () => {
      await stopMining();
      const via = at("eth_sendTransaction", async (go) => {
        await fresh.call("evm_setAutomine", [true]);
        await fresh.send(fresh.owner, "transferOwnership", fresh.stranger);
        await fresh.send(fresh.stranger, "acceptOwnership");
        await stopMining();
        const hash = await go();
        await sleep(10);
        await fresh.call("evm_mine", []);
        return hash;
      });
      const registry = await fresh.connect(via);
      const send = await endpointSender(registry);
      // The nonce that it was to have is used up now.
      const late: SendTransaction = async (transaction) =>
        send({ ...transaction, nonce: `0x${(Number(transaction.nonce) + 1).toString(16)}` });
      const error = await failure(run(batches(1), { via, send: late }));
      expect(error).to.have.property("code", "TRANSACTION_REVERTED");
    });

    it("passes on why a node refuses for good", async () => {
      const via = at("eth_sendTransaction", () => {
        throw new TransportError("RPC_ERROR", "insufficient funds");
      });
      expect(await failure(run(batches(1), { via }))).to.have.property("message", "insufficient funds");
    });
  });

  describe("when blocks vanish", () => {
    it("sends what was in them again", async function () {
      const some = batches(6);
      let vanished = false;
      const snapshot = await fresh.call("evm_snapshot", []);
      const via = at("eth_sendTransaction", async (go, _, time) => {
        if (time === 5 && !vanished) {
          vanished = true;
          // Hardhat knows no reorganisation, but the state of before; Anvil both.
          await fresh.call("evm_revert", [snapshot]);
        }
        return go();
      });
      await run(some, { via, options: { inFlight: 1 } });
      await expectAdded(some);
      expect(told("reorganised")).to.be.greaterThan(0);
    });
  });
});

function never(): never {
  throw new Error("there is none");
}
