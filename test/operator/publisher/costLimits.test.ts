import { expect } from "chai";
import { countKeptAttempts, isLocalChain, MemoryJournal, parseAmount } from "@keyroot/operator/publisher";
import type { Attempt, PublishOptions } from "@keyroot/operator/publisher";
import type { RpcCall } from "keyroot/internal/transport";
import { CostBudget } from "../../../packages/operator/src/publisher/transactions/costLimits.ts";
import { publishing } from "../../support/publisher/publishing.ts";
import { sampleRecords } from "../../support/samples.ts";
import { ENDLESS_MS } from "../../support/endless.ts";
import { failure, never } from "../../support/support.ts";

const GWEI = 10n ** 9n;

/** The fees of a sent transaction: 0x and hex digits. */
interface SentFees {
  maxFeePerGas: string;
  maxPriorityFeePerGas: string;
}

describe("cost limits", () => {
  const { fresh, stored, ...publisher } = publishing();
  const publishVia = (via: RpcCall, options: Partial<PublishOptions> = {}, users = 3) =>
    publisher.publishVia(via, sampleRecords(users), {
      usersPerFile: 1,
      ...options,
      times: { stuckAfterMs: ENDLESS_MS },
      sending: { inFlight: 2, ...options.sending },
    });
  const balance = async () => BigInt((await fresh.call("eth_getBalance", [fresh.owner, "latest"])) as string);
  /** Creates an endpoint that suggests an excessive priority fee. It records the fees of each transaction. */
  const lying =
    (fees: SentFees[]): RpcCall =>
    async (method, params) => {
      if (method === "eth_maxPriorityFeePerGas") return "0x9184e72a000"; // 10,000 gwei
      if (method === "eth_sendTransaction") fees.push(params[0] as SentFees);
      return fresh.call(method, params);
    };

  it("are required except on development chains", async () => {
    const main = fresh.at("eth_chainId", () => "0x1");
    for (const [via, options] of [
      [fresh.call, { limits: undefined }],
      [main, { chainId: 1, limits: undefined }],
      [main, { chainId: 1, limits: "local" }],
      [fresh.call, { limits: {} as never }],
    ] as [RpcCall, Partial<PublishOptions>][]) {
      expect(await failure(publishVia(via, options))).to.include({ code: "ARGUMENT_INVALID" });
    }
    expect(await stored()).to.deep.equal([]);
  });

  it("limit the price even if the endpoint suggests an excessive priority fee", async () => {
    const fees: SentFees[] = [];
    const before = await balance();
    const { published } = await publishVia(lying(fees), { limits: { maxFeePerGas: 20n * GWEI } });
    const gas = published.reduce((sum, { gasUsed }) => sum + BigInt(gasUsed), 0n);
    expect(fees).to.have.lengthOf(3);
    for (const { maxFeePerGas, maxPriorityFeePerGas } of fees) {
      expect(BigInt(maxFeePerGas) <= 20n * GWEI).to.equal(true);
      expect(BigInt(maxPriorityFeePerGas)).to.equal(5n * GWEI);
    }
    expect(before - (await balance()) <= 20n * GWEI * gas).to.equal(true);
  });

  it("limit the priority fee separately with maxPriorityFeePerGas", async () => {
    const fees: SentFees[] = [];
    await publishVia(lying(fees), { limits: { maxFeePerGas: 20n * GWEI, maxPriorityFeePerGas: 3n } }, 1);
    expect(fees.map(({ maxPriorityFeePerGas }) => maxPriorityFeePerGas)).to.deep.equal(["0x3"]);
  });

  it("end a run before a transaction that would exceed them", async () => {
    const journal = new MemoryJournal();
    const fees: SentFees[] = [];
    const before = await balance();
    // This limit is enough for one transaction, but not for two. A transaction needs about 62,000 gas, with a margin of
    // 25,000, at 5 to 7 gwei.
    const maxCost = 800_000n * GWEI;
    const limits = { maxFeePerGas: 20n * GWEI, maxCost };
    const error = await failure(publishVia(lying(fees), { limits, journal }));
    expect(error).to.include({ code: "COST_LIMIT_REACHED" });
    expect(fees.length).to.be.within(1, 2);
    expect(before - (await balance()) <= maxCost).to.equal(true);
    expect((await journal.readPlan())?.batches).to.have.lengthOf(3);

    const { published } = await publishVia(fresh.call, { limits: { maxFeePerGas: 20n * GWEI }, journal });
    expect(published).to.have.lengthOf(3);
  });

  /** Interrupts a plan before its transaction is sent. @returns its journal, and the recorded attempt */
  const interrupt = async () => {
    const journal = new MemoryJournal();
    const none = () => Promise.reject(new Error("stopped"));
    await failure(publishVia(fresh.call, { journal, send: none }, 1));
    const [attempt = never()] = journal.attempts();
    return { journal, attempt };
  };

  /**
   * Publishes with a journal that contains an attempt with planted values.
   * @returns the fees that were sent, and the error if publishing failed
   */
  const resume = async (planted: Partial<Attempt>) => {
    const { journal, attempt } = await interrupt();
    await journal.recordAttempt({ ...attempt, ...planted });
    const fees: SentFees[] = [];
    const options = { journal, limits: { maxFeePerGas: 20n * GWEI } };
    const error = await publishVia(lying(fees), options, 1).then(
      () => undefined,
      (error: unknown) => error,
    );
    return { fees, error };
  };

  it("also limit both fees of a transaction in the journal", async () => {
    for (const wei of [10n ** 15n, 20n * GWEI]) {
      fresh.contract = await fresh.deploy(fresh.owner);
      const { fees, error } = await resume({ fees: { maxFeePerGas: wei, maxPriorityFeePerGas: wei } });
      expect(error).to.equal(undefined);
      expect(fees).to.not.have.lengthOf(0);
      for (const { maxFeePerGas, maxPriorityFeePerGas } of fees) {
        expect(BigInt(maxFeePerGas) <= 20n * GWEI).to.equal(true);
        expect(BigInt(maxPriorityFeePerGas) <= 5n * GWEI).to.equal(true);
      }
    }
  });

  it("also limit the gas of a transaction in the journal", async () => {
    const { fees, error } = await resume({ gas: 2 ** 40 });
    expect(error).to.include({ code: "COST_LIMIT_REACHED" });
    expect(fees).to.deep.equal([]);
  });

  it("limit the sum of all plans with the same root", async () => {
    const { journal, attempt } = await interrupt();
    // This limit is enough for two transactions of this root, but not for three.
    const limits = { maxFeePerGas: 20n * GWEI, maxCost: 2n * BigInt(attempt.gas) * 5n * GWEI };
    const fees = { maxFeePerGas: 5n * GWEI, maxPriorityFeePerGas: 1n };
    for (const nonce of [attempt.nonce + 1, attempt.nonce + 2])
      await journal.recordAttempt({ ...attempt, nonce, fees });
    const before = await balance();
    for (const plan of ["unfinished", "finished"]) {
      if (plan === "finished") await journal.finish();
      expect(await failure(publishVia(fresh.call, { limits, journal }, 1)), plan).to.include({
        code: "COST_LIMIT_REACHED",
      });
    }
    expect(await balance()).to.equal(before);
  });

  it("limit the gas price if the endpoint hides the base fee", async () => {
    const prices: (string | undefined)[] = [];
    const hiding: RpcCall = async (method, params) => {
      if (method === "eth_gasPrice") return "0x9184e72a000"; // 10,000 gwei
      const [transaction] = params as { gasPrice?: string }[];
      if (method === "eth_sendTransaction") prices.push(transaction?.gasPrice);
      const answer = await fresh.call(method, params);
      return method === "eth_getBlockByNumber" ? { ...(answer as object), baseFeePerGas: undefined } : answer;
    };
    const before = await balance();
    // The publisher waits for a lower price until the time limit.
    const options = { limits: { maxFeePerGas: 20n * GWEI }, sending: { timeoutMs: 500 } };
    const error = await failure(publishVia(hiding, options));
    expect(error).to.include({ code: "FEE_TOO_HIGH" });
    expect(prices).to.deep.equal([]);
    expect(await balance()).to.equal(before);
  });

  describe("per day", () => {
    const day = 24 * 60 * 60 * 1000;
    const maxCostPerDay = 1_000_000n * GWEI;
    const limits = { maxFeePerGas: 20n * GWEI, maxCostPerDay };
    /**
     * Creates a journal with a finished plan of a different registry, whose transaction cost nearly as much as the
     * limit.
     */
    const spent = async (ageMs: number) => {
      const journal = new MemoryJournal();
      const fees = { gasPrice: GWEI };
      await journal.recordAttempt({
        ...{ nonce: 0, root: "ab".repeat(32), gas: 999_999, fees },
        ...{ time: Date.now() - ageMs, registry: "1/0x00" },
      });
      return journal;
    };

    it("include the transactions of other plans and registries", async () => {
      const before = await balance();
      const error = await failure(publishVia(fresh.call, { limits, journal: await spent(day - 60_000) }));
      expect(error).to.include({ code: "COST_LIMIT_REACHED", expected: String(maxCostPerDay) });
      expect(String(error)).to.contain("--max-cost-per-day");
      expect(await balance()).to.equal(before);
    });

    it("include the transactions of an earlier owner", async () => {
      const nonce = Number(await fresh.call("eth_getTransactionCount", [fresh.owner, "latest"]));
      const journal = new MemoryJournal();
      await journal.recordAttempt({
        ...{ nonce, root: "ab".repeat(32), gas: 999_999, fees: { gasPrice: GWEI } },
        ...{ time: Date.now(), sender: fresh.stranger.toLowerCase() },
      });
      const error = await failure(publishVia(fresh.call, { limits, journal }, 1));
      expect(error).to.include({ code: "COST_LIMIT_REACHED" });
    });

    it("exclude transactions that are older than a day", async () => {
      const { published } = await publishVia(fresh.call, { limits, journal: await spent(day + 1) });
      expect(published).to.have.lengthOf(3);
    });

    it("apply even if the endpoint hides receipts and roots", async () => {
      const sent: { nonce: string; gas: string; maxFeePerGas: string }[] = [];
      const start = await fresh.call("eth_blockNumber", []);
      const hiding: RpcCall = async (method, params) => {
        if (method === "eth_sendTransaction") sent.push(params[0] as (typeof sent)[number]);
        if (method === "eth_getTransactionReceipt") return null;
        return fresh.call(method, method === "eth_call" ? [params[0], start] : params);
      };
      const journal = new MemoryJournal();
      const codes = new Set<unknown>();
      for (let round = 1; round <= 8; round++) {
        // The new root has no earlier transaction, as after a lost plan or with one more user.
        await journal.finish();
        const options = { journal, limits, usersPerFile: 700, sending: { timeoutMs: 50 } };
        const error = await failure(publishVia(hiding, options, 2 + round));
        codes.add((error as { code?: unknown }).code);
      }
      expect([...codes]).to.include("COST_LIMIT_REACHED");
      const costOf = new Map<string, bigint>();
      for (const { nonce, gas, maxFeePerGas } of sent) {
        const cost = BigInt(gas) * BigInt(maxFeePerGas);
        if (cost > (costOf.get(nonce) ?? 0n)) costOf.set(nonce, cost);
      }
      const sum = [...costOf.values()].reduce((a, b) => a + b, 0n);
      expect(costOf.size).to.be.greaterThan(1);
      expect(sum <= maxCostPerDay, `${sum} wei`).to.equal(true);
    });

    it("keep all attempts of the last day, and at least 10,000 attempts", () => {
      const attempt = { nonce: 0, root: "ab".repeat(32), gas: 1, fees: { gasPrice: 1n } };
      const old = Array.from({ length: 11_000 }, () => ({ ...attempt, time: 1 }));
      const recent = Array.from({ length: 12_000 }, () => ({ ...attempt, time: Date.now() }));
      expect([[], old, [...old, ...recent]].map((all) => countKeptAttempts(all))).to.deep.equal([
        10_000, 10_000, 12_000,
      ]);
    });
  });

  describe("CostBudget", () => {
    const fees = { gasPrice: 10n };
    const allows = (budget: CostBudget, nonce: number, gas: number, more = {}) =>
      budget.exceededBy({ nonce, gas, fees, ...more }) === undefined;

    it("counts only the most expensive transaction of each nonce", () => {
      const budget = new CostBudget({ maxFeePerGas: 10n, maxCost: 1000n });
      for (const gas of [40, 60, 30]) budget.record({ nonce: 0, gas, fees });
      expect([allows(budget, 1, 40), allows(budget, 1, 41)]).to.deep.equal([true, false]);
      expect([allows(budget, 0, 100), allows(budget, 0, 101)]).to.deep.equal([true, false]);
    });

    it("counts the nonces of each sender and each registry separately", () => {
      const earlier = { nonce: 0, root: "ab".repeat(32), gas: 60, fees, time: Date.now() };
      const allowsAfter = (attempt: Attempt) => {
        const budget = new CostBudget({ maxFeePerGas: 10n, maxCost: 1000n, maxCostPerDay: 1000n }, "1/0x00", "0xAA");
        budget.recordEarlier([attempt], new Set([attempt.root]));
        return [60, 40, 41].map((gas) => allows(budget, gas === 60 ? 0 : 1, gas));
      };
      const once = [true, true, false];
      expect(allowsAfter({ ...earlier, registry: "1/0x00", sender: "0xaa" })).to.deep.equal(once);
      expect(allowsAfter(earlier), "a journal of version 0.2").to.deep.equal(once);
      expect(allowsAfter({ ...earlier, sender: "0xbb" })).to.deep.equal([false, true, false]);
      expect(allowsAfter({ ...earlier, registry: "2/0x00" })).to.deep.equal([false, true, false]);
    });

    it("counts the data fee", () => {
      const budget = new CostBudget({ maxFeePerGas: 10n, maxCost: 1000n });
      expect([400n, 401n].map((dataFee) => allows(budget, 0, 60, { dataFee }))).to.deep.equal([true, false]);
      budget.record({ nonce: 0, gas: 60, fees, dataFee: 400n });
      expect(allows(budget, 1, 1)).to.equal(false);
    });

    it("limits the cost of every 24 hours", () => {
      const hour = 60 * 60 * 1000;
      const budget = new CostBudget({ maxFeePerGas: 10n, maxCost: 10_000n, maxCostPerDay: 1000n });
      for (const [nonce, hours] of [
        [0, 0],
        [1, 20],
      ] as const)
        budget.record({ nonce, gas: 50, fees }, hours * hour);
      const at = (hours: number, gas: number) => budget.exceededBy({ nonce: 2, gas, fees }, hours * hour)?.limit;
      expect([at(23, 1), at(24, 50), at(24, 51), at(44, 100)]).to.deep.equal([
        ...["maxCostPerDay", undefined],
        ...["maxCostPerDay", undefined],
      ]);
    });

    it("has a default limit per file and per user", () => {
      for (const [estimate, perUser] of [
        [0, 50_000n],
        [22_660, 50_000n],
        [103_596, 207_192n],
        [10 ** 9, 250_000n],
      ] as const) {
        const budget = new CostBudget({ maxFeePerGas: 10n });
        expect(allows(budget, 0, 1)).to.equal(false);
        budget.allowFor([{ users: 1 }, { users: 700 }], estimate);
        expect(budget.maxCost).to.equal(10n * (300_000n + 701n * perUser));
      }
    });
  });

  it("are optional only if chain id and endpoint are both local", () => {
    for (const url of ["http://127.0.0.1:8545", "http://localhost:1/key", "https://[::1]:8545", "http://127.9.9.9"]) {
      expect([isLocalChain(url, 31337), isLocalChain(url, 1337), isLocalChain(url, 1)]).to.deep.equal([
        true,
        true,
        false,
      ]);
    }
    for (const url of ["http://127.0.0.1.example", "http://localhost.example", "http://10.0.0.1", "x", ""]) {
      expect(isLocalChain(url, 31337), url).to.equal(false);
    }
  });

  it("must be decimal amounts above zero", () => {
    expect(["1", "0.5", "30.000000001"].map((text) => parseAmount(text, "gwei"))).to.deep.equal([
      GWEI,
      GWEI / 2n,
      30n * GWEI + 1n,
    ]);
    expect(parseAmount("0.000000000000000001", "ether")).to.equal(1n);
    for (const text of ["", "0", "0.0", "-1", "1e3", "0x1", " 1", "1.", ".5", "1.0000000001", "1 000"]) {
      expect(parseAmount(text, "gwei"), text).to.equal(undefined);
    }
  });
});
