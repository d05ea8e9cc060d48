import { expect } from "chai";
import { setTimeout as sleep } from "node:timers/promises";
import { endpointSender, MemoryJournal } from "@keyroot/operator/publisher";
import type { Batch, Journal, SendOptions, SendTransaction, TransactionEvent } from "@keyroot/operator/publisher";
import { TransportError } from "keyroot/internal/errors";
import { userIDToHex } from "keyroot/internal/identity";
import { type RpcCall, rpcCaller } from "keyroot/internal/transport";
import { addRoots } from "../../../../packages/operator/src/publisher/transactions/addRoots.ts";
import { DEFAULT_SEND_OPTIONS } from "../../../../packages/operator/src/publisher/transactions/sendOptions.ts";
import { startFaultyEndpoint } from "../../../support/publisher/faultyEndpoint.ts";
import { sampleUserID, sha256 } from "../../../support/samples.ts";
import { closedAfterEach, failure, never } from "../../../support/support.ts";
import { describeOnBoth, freshRegistry, rawSender } from "../../../support/chain/freshRegistry.ts";
import { ENDLESS_MS } from "../../../support/endless.ts";

const USERS = 3;
const batches = (count: number, seed = 1): Batch[] =>
  Array.from({ length: count }, (_, i) => ({
    root: sha256(`${seed} ${i}`),
    fileBytes: 1,
    users: USERS,
    userIDs: Array.from({ length: USERS }, (_, j) => sampleUserID(i * USERS + j, seed)).toSorted(),
  }));

/** Encodes user ids in the contract's format. */
const packed = (userIDs: readonly string[]) => `0x${userIDs.map(userIDToHex).join("")}`;

describeOnBoth("addRoots", (startChain) => {
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
    await addRoots(some, {
      registry,
      send: send ?? (await endpointSender(registry, fresh.chainId)),
      journal,
      options: { ...DEFAULT_SEND_OPTIONS, pollMs: 5, stuckAfterMs: 60, timeoutMs: ENDLESS_MS, ...options },
      emit: (event) => events.push(event),
    });
  };
  const hashOfSent = () =>
    events.flatMap((event) => (event.event === "sent" && event.hash !== undefined ? [event.hash] : []))[0];
  const emitted = (name: string) => events.filter(({ event }) => event === name).length;
  const count = async (tag = "latest") => Number(await fresh.call("eth_getTransactionCount", [fresh.owner, tag]));
  const nonceOf = (params: readonly unknown[]) => Number((params[0] as { nonce: string }).nonce);
  /** Expects that all users in these batches have the root of their batch. */
  const expectAdded = async (some: readonly Batch[]) => {
    const registry = await fresh.connect();
    for (const { root, userIDs } of some) {
      expect(await registry.getMerkleTreeRoots(userIDs)).to.deep.equal(userIDs.map(() => root));
    }
  };
  const { at } = fresh;
  const mineEvery = (ms: number) => {
    const timer = setInterval(() => void fresh.call("evm_mine", []), ms);
    return {
      close: () => {
        clearInterval(timer);
      },
    };
  };
  /** Creates an endpoint that hides receipts, logs and newer roots. `change` replaces the transactions of blocks. */
  const hidingSince =
    (block: unknown, change: (transactions: object[]) => object[] = () => []): RpcCall =>
    async (method, params) => {
      if (method === "eth_getTransactionReceipt") return null;
      if (method === "eth_getLogs") return [];
      if (method === "eth_call") return fresh.call(method, [params[0], block]);
      const answer = (await fresh.call(method, params)) as { transactions: object[] };
      if (method !== "eth_getBlockByNumber" || params[1] !== true) return answer;
      return { ...answer, transactions: change(answer.transactions) };
    };
  const stopMining = () => fresh.call("evm_setAutomine", [false]);

  describe("without faults", () => {
    it("adds each root in one transaction, with consecutive nonces", async () => {
      const some = batches(5);
      const before = await count();
      await run(some);
      await expectAdded(some);
      expect(await count()).to.equal(before + 5);
      expect([emitted("sent"), emitted("included"), emitted("replaced")]).to.deep.equal([5, 5, 0]);
    });

    it("reports the number of users that a transaction added", async () => {
      await run(batches(1));
      const included = events.find(({ event }) => event === "included");
      expect(included).to.have.property("added").that.includes({ addedCount: USERS });
    });

    it("keeps at most inFlight transactions pending", async () => {
      await stopMining();
      const some = batches(7);
      let maxPending = 0;
      const registry = await fresh.connect();
      const start = await count();
      let sent = 0;
      const watching = at("eth_sendTransaction", async (forward) => {
        const answer = await forward();
        const pending = (await registry.chain.transactionCount(fresh.owner, "pending")) - (await count());
        maxPending = Math.max(maxPending, pending);
        // A publisher without the limit would send more transactions before the block.
        if (++sent === 7 || pending === 3) setTimeout(() => void fresh.call("evm_mine", []), 100);
        return answer;
      });
      await run(some, { via: watching, options: { inFlight: 3, stuckAfterMs: ENDLESS_MS } });
      await expectAdded(some);
      expect([maxPending, (await count()) - start]).to.deep.equal([3, 7]);
    });

    it("uses nonces after the owner's other pending transactions", async () => {
      await stopMining();
      const other = fresh.send(fresh.owner, "transferOwnership", fresh.stranger);
      while ((await count("pending")) === (await count())) await sleep(5);
      closing(mineEvery(40));
      const some = batches(2);
      await run(some);
      await expectAdded(some);
      await other;
    });

    it("reports why a transaction got no response, and sends it again", async () => {
      const message = "The request to signer.example failed: ECONNREFUSED";
      const via = at("eth_sendTransaction", async (forward, _params, time) => {
        if (time === 1) throw new TransportError("UNREACHABLE", `${message}.`);
        return forward();
      });
      const some = batches(1);
      await run(some, { via, options: { stuckAfterMs: 20 } });
      await expectAdded(some);
      const reason = `${message}. Check the endpoint's URL and the network, or use another endpoint`;
      expect(events).to.deep.include({ event: "waiting", reason });
    });

    it("adds an access list if the option accessList is set", async () => {
      await run(batches(1), { options: { accessList: true } });
      const hash = hashOfSent();
      const { accessList } = (await fresh.call("eth_getTransactionByHash", [hash])) as {
        accessList: { storageKeys: string[] }[];
      };
      expect(accessList[0]?.storageKeys).to.have.lengthOf(USERS);
    });
  });

  describe("with a fee limit", () => {
    it("sends nothing while gas costs more than the limit", async () => {
      const before = await count();
      const error = await failure(run(batches(1), { options: { maxFeePerGas: 7n, timeoutMs: 100 } }));
      expect(error).to.be.an.instanceof(TransportError).with.property("code", "FEE_TOO_HIGH");
      expect([await count(), emitted("waiting")]).to.deep.equal([before, 1]);
    });

    it("names the exceeded limit of a recorded transaction", async () => {
      const before = await count();
      for (const [maxFeePerGas, setting, expected, actual] of [
        [6n, "--max-fee", "6", "7"],
        [7n, "--max-priority-fee, by default a quarter of --max-fee", "1", "3"],
      ] as const) {
        const [batch = never()] = batches(1);
        const journal = new MemoryJournal();
        // The limit is lower than the current price, so that the fees are not replaced.
        const fees = { maxFeePerGas: 7n, maxPriorityFeePerGas: 3n };
        await journal.recordAttempt({ nonce: before, root: batch.root, gas: 300_000, fees });
        const options = { maxFeePerGas, maxPriorityFeePerGas: 1n };
        const error = await failure(run([batch], { journal, options }));
        expect(error).to.include({ code: "FEE_TOO_HIGH", expected, actual });
        expect((error as Error).message).to.contain(`or raise the limit (${setting}).`);
      }
      expect(await count()).to.equal(before);
    });

    it("raises the fees of a transaction until a block includes it", async () => {
      await stopMining();
      await fresh.call("hardhat_setNextBlockBaseFeePerGas", ["0x3b9aca00"]);
      await fresh.call("evm_mine", []);
      const [batch = never()] = batches(1);
      const journal = new MemoryJournal();
      // An earlier run offered a fee that is far too low.
      await journal.recordAttempt({
        nonce: await count(),
        root: batch.root,
        gas: 300_000,
        fees: { maxFeePerGas: 3n, maxPriorityFeePerGas: 1n },
      });
      closing(mineEvery(40));
      await run([batch], { journal });
      await expectAdded([batch]);
      expect([emitted("sent"), emitted("replaced") > 0]).to.deep.equal([0, true]);
    });

    it("does not raise the fees while no block is made", async () => {
      await stopMining();
      const fees = new Set<string>();
      let sent = 0;
      const via = at("eth_sendTransaction", async (forward, params) => {
        // On a slow machine, the transaction is sent once more after the block.
        if (sent < 3) fees.add((params[0] as { maxFeePerGas: string }).maxFeePerGas);
        if (++sent === 3) setTimeout(() => void fresh.call("evm_mine", []), 10);
        return forward();
      });
      await run(batches(1), { via });
      expect([sent >= 3, fees.size]).to.deep.equal([true, 1]);
    });

    it("never offers more than the limit", async () => {
      await stopMining();
      const { maxFeePerGas } = await priceNow();
      const offers: bigint[] = [];
      const via = at("eth_sendTransaction", (forward, params) => {
        offers.push(BigInt((params[0] as { maxFeePerGas: string }).maxFeePerGas));
        return forward();
      });
      closing(mineEvery(300));
      await run(batches(1), { via, options: { maxFeePerGas, stuckAfterMs: 30 } });
      expect(offers.every((wei) => wei <= maxFeePerGas)).to.be.true;
    });
    const priceNow = async () => {
      const { chain } = await fresh.connect();
      const { baseFeePerGas = 0n, priorityFee } = await chain.fetchFeeData(await chain.block("latest"));
      return { maxFeePerGas: baseFeePerGas + priorityFee };
    };
  });

  describe("with faults", () => {
    for (const fault of [
      "dropped",
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
      it(`adds each root once despite the fault ${fault} while sending`, async () => {
        const some = batches(4);
        const endpoint = closing(await startFaultyEndpoint(fresh.rpcUrl));
        endpoint.inject(fault, { methods: ["eth_sendRawTransaction"], after: 1, times: 2 });
        const via = rpcCaller(endpoint.url, { maxBytes: 2 ** 20, timeoutMs: ENDLESS_MS });
        const before = await count();
        await run(some, { via, send: rawSender(via, fresh.chainId) });
        await expectAdded(some);
        expect([endpoint.faults(fault), (await count()) - before]).to.deep.equal([2, 4]);
      });
    }

    it("gives a batch another nonce if another transaction used its nonce", async () => {
      await stopMining();
      const some = batches(2);
      let taken = false;
      const via = at("eth_sendTransaction", async (forward, params) => {
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
        return forward();
      });
      await run(some, { via });
      await expectAdded(some);
      expect(emitted("displaced")).to.be.greaterThan(0);
    });

    it("does not resend a transaction whose nonce another transaction used", async () => {
      const userIDs = batches(1)[0]?.userIDs ?? never();
      let sent = 0;
      const via = at("eth_sendTransaction", async (forward) => {
        if (++sent === 1) await fresh.send(fresh.owner, "addMerkleTreeRoot", `0x${sha256("other")}`, packed(userIDs));
        return forward();
      });
      // With slow reads, the batch is stuck before the chain shows which transaction used its nonce.
      const slow: RpcCall = async (method, params) => {
        if (sent > 0 && method === "eth_getLogs") await sleep(50);
        if (sent > 0 && method === "eth_call") await sleep(50);
        return via(method, params);
      };
      await run(batches(1), { via: slow, options: { stuckAfterMs: 1 } });
      expect([sent, emitted("replaced"), emitted("included")]).to.deep.equal([1, 0, 1]);
    });

    it("fills the nonce gap after another transaction was dropped", async () => {
      const some = batches(2);
      const next = await count();
      const ahead = `0x${(next + 1).toString(16)}`;
      // The endpoint counts a pending transaction that is dropped later.
      const via = at("eth_getTransactionCount", (forward, params, time) =>
        params[1] === "pending" && time < 4 ? ahead : forward(),
      );
      await run(some, { via });
      await expectAdded(some);
    });

    it("gives a batch the owner's next nonce, not the nonce of an earlier owner", async () => {
      const [batch = never()] = batches(1, 77);
      const journal = new MemoryJournal();
      const before = await count();
      await journal.recordAttempt({
        nonce: before + 3,
        root: batch.root,
        gas: 300_000,
        fees: { maxFeePerGas: 3n, maxPriorityFeePerGas: 1n },
        sender: `0x${"ab".repeat(20)}`,
      });
      await run([batch], { journal });
      await expectAdded([batch]);
      expect(events.map((event) => [event.event, "nonce" in event && event.nonce])).to.deep.equal([
        ["sent", before],
        ["included", before],
      ]);
    });

    it("continues with the nonces of an earlier run", async () => {
      await stopMining();
      const some = batches(4);
      const journal = new MemoryJournal();
      let sent = 0;
      const via = at("eth_sendTransaction", (forward) => {
        if (++sent === 3) throw new Error("killed");
        return forward();
      });
      expect(await failure(run(some, { via, journal }))).to.have.property("message", "killed");
      expect(new Set(journal.attempts().map(({ nonce }) => nonce))).to.have.lengthOf(3);
      const before = await count();
      closing(mineEvery(40));
      await run(some, { journal });
      await expectAdded(some);
      expect((await count()) - before).to.equal(4);
    });

    it("sends no transaction twice after a kill, even if the endpoint returns outdated roots", async () => {
      const some = batches(6);
      const journal = new MemoryJournal();
      const before = await count();
      const block = await fresh.call("eth_blockNumber", []);
      const killed = at("eth_sendTransaction", (forward) => forward());
      const dying: RpcCall = async (method, params) => {
        if (method === "eth_getTransactionReceipt") throw new Error("killed");
        return killed(method, params);
      };
      expect(await failure(run(some, { via: dying, journal }))).to.have.property("message", "killed");
      expect((await count()) - before).to.be.greaterThan(0);
      const stale = at("eth_call", (_, params) => fresh.call("eth_call", [params[0], block]));
      await run(some, { via: stale, journal });
      await expectAdded(some);
      expect((await count()) - before).to.equal(6);
    });

    it("takes over a transaction whose hash an earlier run did not record", async () => {
      const [batch = never()] = batches(1);
      const journal = new MemoryJournal();
      const before = await count();
      const block = await fresh.call("eth_blockNumber", []);
      const killed = at("eth_sendTransaction", async (forward) => {
        await forward();
        throw new Error("killed");
      });
      expect(await failure(run([batch], { via: killed, journal }))).to.have.property("message", "killed");
      const stale = at("eth_call", (_, params) => fresh.call("eth_call", [params[0], block]));
      await run([batch], { via: stale, journal });
      expect([await count(), emitted("included")]).to.deep.equal([before + 1, 1]);
    });

    it("sends each root once even if the endpoint hides its transactions", async () => {
      const some = batches(3);
      const journal = new MemoryJournal();
      const before = await count();
      const block = await fresh.call("eth_blockNumber", []);
      const hiding = hidingSince(block);
      for (let round = 0; round < 6; round++) {
        const error = await failure(run(some, { via: hiding, journal, options: { timeoutMs: 150 } }));
        expect(error).to.have.property("code", "NO_RECEIPT");
      }
      expect((await count()) - before).to.equal(3);
      expect(emitted("displaced")).to.equal(0);
      await run(some, { journal });
      await expectAdded(some);
      expect((await count()) - before).to.equal(3);
    });

    it("fills at most one gap even if the endpoint reports false gaps", async () => {
      const [batch = never()] = batches(1);
      const journal = new MemoryJournal();
      const block = await fresh.call("eth_blockNumber", []);
      for (let round = 0; round < 6; round++) {
        let asked = 0;
        const inventing: RpcCall = async (method, params) => {
          if (method !== "eth_getTransactionCount" || params[1] !== "pending")
            return hidingSince(block)(method, params);
          return `0x${((await count()) + (asked++ === 0 ? 2 : 0)).toString(16)}`;
        };
        await failure(run([batch], { via: inventing, journal, options: { timeoutMs: 300 } }));
      }
      expect(new Set(journal.attempts().map(({ nonce }) => nonce)).size).to.be.at.most(2);
    });

    it("ignores a foreign transaction without the owner's signature", async () => {
      const [batch = never()] = batches(1);
      const before = await count();
      const block = await fresh.call("eth_blockNumber", []);
      const forging = hidingSince(block, (all) => all.map((one) => ({ ...one, input: "0x8da5cb5b" })));
      const error = await failure(run([batch], { via: forging, options: { timeoutMs: 400 } }));
      expect(error).to.have.property("code", "NO_RECEIPT");
      expect([(await count()) - before, emitted("displaced")]).to.deep.equal([1, 0]);
    });

    it("reports the hash of the pending transaction after the time limit", async () => {
      await stopMining();
      const error = await failure(run(batches(1), { options: { timeoutMs: 100 } }));
      expect(error).to.be.an.instanceof(TransportError).with.property("code", "NO_RECEIPT");
      const hash = hashOfSent() ?? never();
      expect(error).to.have.property("actual", hash);
      expect((error as Error).message)
        .to.contain(hash)
        .and.contain("It may still be included. To continue, publish again.");
    });

    it("reports a reverted transaction", async () => {
      await stopMining();
      const via = at("eth_sendTransaction", async (forward) => {
        await fresh.call("evm_setAutomine", [true]);
        await fresh.send(fresh.owner, "transferOwnership", fresh.stranger);
        await fresh.send(fresh.stranger, "acceptOwnership");
        await stopMining();
        const hash = await forward();
        await sleep(10);
        await fresh.call("evm_mine", []);
        return hash;
      });
      const registry = await fresh.connect(via);
      const send = await endpointSender(registry, fresh.chainId);
      // The transaction that changed the owner used this nonce.
      const late: SendTransaction = async (transaction) =>
        send({ ...transaction, nonce: `0x${(Number(transaction.nonce) + 1).toString(16)}` });
      const error = await failure(run(batches(1), { via, send: late }));
      expect(error).to.have.property("code", "TRANSACTION_REVERTED");
    });

    it("throws the node's error if the node rejects a transaction permanently", async () => {
      const via = at("eth_sendTransaction", () => {
        throw new TransportError("RPC_ERROR", "over quota");
      });
      expect(await failure(run(batches(1), { via }))).to.have.property("message", "over quota");
    });

    for (const text of [
      "insufficient funds for gas * price + value", // Geth
      "Sender doesn't have enough funds to send tx.", // Hardhat
      "InsufficientFunds, Account balance: 0", // Nethermind
      "Upfront cost exceeds account balance", // Besu
    ])
      it(`names the owner and the remedy if the owner has too little ETH: ${text}`, async () => {
        const via = at("eth_sendTransaction", () => {
          throw new TransportError("RPC_ERROR", text, { reason: text });
        });
        const error = await failure(run(batches(1), { via }));
        expect(error).to.include({ code: "RPC_ERROR" });
        const { message } = error as Error;
        expect(message)
          .to.match(new RegExp(`${fresh.owner}.*Send ETH to this account`))
          .and.include(text.replace(/\.$/, ""));
      });
  });

  describe("after a reorganization", () => {
    it("sends the lost transactions again", async function () {
      const some = batches(6);
      let reorganized = false;
      const snapshot = await fresh.call("evm_snapshot", []);
      const via = at("eth_sendTransaction", async (forward, _, time) => {
        if (time === 5 && !reorganized) {
          reorganized = true;
          // Hardhat has snapshots instead of reorganizations. Anvil has both.
          await fresh.call("evm_revert", [snapshot]);
        }
        return forward();
      });
      await run(some, { via, options: { inFlight: 1 } });
      await expectAdded(some);
      expect(emitted("reorganized")).to.be.greaterThan(0);
    });
  });
});
