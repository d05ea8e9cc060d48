import { expect } from "chai";
import { userIDToHex } from "keyroot/internal/identity";
import type { RpcCall } from "keyroot/internal/transport";
import { installFees, OP_FEES, removeFees } from "../../../support/chain/rollupFees.ts";
import { describeOnBoth, FAST_RETRY, freshRegistry, startHardhat } from "../../../support/chain/freshRegistry.ts";
import { sampleUserID } from "../../../support/samples.ts";
import { failure } from "../../../support/support.ts";
import { Chain } from "../../../../packages/operator/src/publisher/chain/chain.ts";
import {
  bytesOf,
  costOn,
  fetchPrices,
  gasOf,
  type PublishingSize,
} from "../../../../packages/operator/src/publisher/plan/knownChains.ts";

const ROOT = "ab".repeat(32);
const GWEI = 10n ** 9n;
const users = (count: number) => Array.from({ length: count }, (_, i) => sampleUserID(i, 1));
const sizeOf = (count: number, transactions = 1): PublishingSize => ({
  ...{ users: count * transactions, transactions },
  sample: users(count),
});

describeOnBoth("gasOf", (startChain) => {
  const fresh = freshRegistry(startChain);

  it("differs from the node's estimates by at most 1 %", async () => {
    const registry = await fresh.connect();
    // Add a first root, because the first call of a registry costs more.
    const first = userIDToHex(sampleUserID(1, 2));
    await fresh.send(fresh.owner, "addMerkleTreeRoot", `0x${"cd".repeat(32)}`, `0x${first}`);
    for (const count of [20, 100, 700]) {
      const estimated = await registry.estimateGas(registry.addRootCall({ root: ROOT, userIDs: users(count) }, false));
      expect(gasOf(sizeOf(count)) / estimated, String(count)).to.be.within(0.99, 1.01);
    }
  });
});

describe("costOn", () => {
  const size = sizeOf(700, 10);
  const prices = { gasPrice: 2n * GWEI, dataFee: 5n, dataGas: 0 };

  it("multiplies gas by price and adds the data fee", () => {
    const { gas, cost, next } = costOn("base", size, prices);
    expect([gas, cost, next]).to.deep.equal([gasOf(size), BigInt(gas) * 2n * GWEI + 5n, undefined]);
  });

  it("adds Arbitrum's gas for bytes", () => {
    const { gas, cost } = costOn("arbitrum", size, { ...prices, dataGas: 1_000 });
    expect([gas, cost]).to.deep.equal([gasOf(size) + 1_000, BigInt(gasOf(size) + 1_000) * 2n * GWEI + 5n]);
  });

  it("includes the cost after the next fork on Ethereum", () => {
    const { gas, next } = costOn("ethereum", size, { ...prices, dataFee: 0n });
    expect((next?.gas ?? 0) / gas).to.be.within(4.5, 4.7);
    expect(next?.cost).to.equal(BigInt(next?.gas ?? 0) * 2n * GWEI);
    expect(next?.costAtMost).to.equal(BigInt(next?.gasAtMost ?? 0) * 2n * GWEI);
  });
});

describe("fetchPrices", () => {
  const fresh = freshRegistry(startHardhat);
  afterEach(() => removeFees(fresh.call, "hardhat_setCode"));
  const chainOf = (call: RpcCall) => new Chain(call, FAST_RETRY);

  it("returns the chain's gas price, and a data fee of 0 on a chain without data fees", async () => {
    const chain = chainOf(fresh.call);
    const { baseFeePerGas = 0n, priorityFee } = await chain.fetchFeeData(await chain.block("latest"));
    const expected = { gasPrice: baseFeePerGas + priorityFee, dataFee: 0n, dataGas: 0 };
    expect(await fetchPrices("own", chain, sizeOf(700))).to.deep.equal(expected);
  });

  it("returns the data fee of all transactions on a rollup", async () => {
    await installFees(fresh.call, "EarlyGasPriceOracle", "hardhat_setCode");
    const size = sizeOf(700, 3);
    const { dataFee } = await fetchPrices("own", chainOf(fresh.call), size);
    expect(Number(dataFee / OP_FEES.weiPerByte) / bytesOf(size)).to.be.within(0.99, 1.01);
  });

  it("rejects the endpoint of a different chain", async () => {
    expect(await failure(fetchPrices("ethereum", chainOf(fresh.call), sizeOf(1)))).to.include({
      code: "CHAIN_ID_MISMATCH",
    });
  });

  it("rejects a price above 1 ETH per unit of gas", async () => {
    for (const method of ["eth_maxPriorityFeePerGas", "eth_getBlockByNumber"]) {
      const high = `0x${(10n ** 18n + 1n).toString(16)}`;
      const hostile = fresh.at(method, async (forward) => {
        const answer = await forward();
        return typeof answer === "string" ? high : { ...(answer as object), baseFeePerGas: high };
      });
      const error = await failure(fetchPrices("own", chainOf(hostile), sizeOf(1)));
      expect(error, method).to.include({ code: "RPC_ANSWER_INVALID" });
    }
  });
});
