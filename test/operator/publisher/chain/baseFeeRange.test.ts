import { expect } from "chai";
import { toQuantity } from "keyroot/internal/ethereum";
import type { RpcCall } from "keyroot/internal/transport";
import { fetchBaseFeeRange } from "../../../../packages/operator/src/publisher/chain/baseFeeRange.ts";
import { Chain } from "../../../../packages/operator/src/publisher/chain/chain.ts";
import { describeOnBoth, FAST_RETRY, freshRegistry } from "../../../support/chain/freshRegistry.ts";
import { failure } from "../../../support/support.ts";

const GWEI = 10n ** 9n;
const YEAR = 365 * 24 * 60 * 60;
const NOW = 1_800_000_000;

/**
 * Makes a chain with a block every 12 s. The base fee starts at 0 gwei one year before the newest block, and rises by 1 gwei
 * per week.
 */
function longChain(newest: number): { call: RpcCall; requests: number[] } {
  const requests: number[] = [];
  const call: RpcCall = (_, [tag]) => {
    const number = tag === "latest" ? newest : Number(tag);
    requests.push(number);
    const week = Math.max(0, Math.round((YEAR - (newest - number) * 12) / (7 * 24 * 60 * 60)));
    return Promise.resolve({
      ...{ number: toQuantity(number), hash: `0x${"0".repeat(64)}`, gasLimit: "0x1" },
      ...{ timestamp: toQuantity(NOW - (newest - number) * 12), baseFeePerGas: toQuantity(BigInt(week) * GWEI) },
    });
  };
  return { call, requests };
}

describe("fetchBaseFeeRange", () => {
  const rangeOf = (call: RpcCall) => fetchBaseFeeRange(new Chain(call, FAST_RETRY));

  it("reads 53 blocks of the last year", async () => {
    const { call, requests } = longChain(20_000_000);
    const { blocks, from, to, lowest, median, highest } = (await rangeOf(call)) ?? {};
    expect([blocks, lowest, highest]).to.deep.equal([53, 0n, 52n * GWEI]);
    expect(Number(median) / 1e9).to.be.within(25, 27);
    expect([from, to]).to.deep.equal([(NOW - YEAR) * 1000, NOW * 1000]);
    expect(requests).to.have.lengthOf(54);
  });

  it("reads a young chain from its first block", async () => {
    const { blocks, from } = (await rangeOf(longChain(10).call)) ?? {};
    expect([blocks, from]).to.deep.equal([11, (NOW - 120) * 1000]);
  });

  it("returns undefined on a chain without a base fee", async () => {
    const { call } = longChain(5);
    const without: RpcCall = async (...args) => ({ ...((await call(...args)) as object), baseFeePerGas: null });
    expect(await rangeOf(without)).to.equal(undefined);
  });

  it("sends at most 54 requests even if the endpoint returns false times", async () => {
    for (const timeOf of [() => 5, (number: number) => NOW - number, (number: number) => number * 8_000_000]) {
      const { call, requests } = longChain(1_000_000);
      const hostile: RpcCall = async (...args) => {
        const block = (await call(...args)) as { number: string };
        return { ...block, timestamp: `0x${timeOf(Number(block.number)).toString(16)}` };
      };
      await rangeOf(hostile);
      expect(requests.length).to.be.at.most(54);
    }
  });

  it("rejects blocks with impossible values", async () => {
    const { call } = longChain(1_000);
    for (const wrong of [
      { number: "0x1" },
      { timestamp: "0x1fffffffffffff" },
      { baseFeePerGas: `0x${"f".repeat(64)}` },
      { timestamp: null },
    ]) {
      const hostile: RpcCall = async (...args) => ({ ...((await call(...args)) as object), ...wrong });
      expect(await failure(rangeOf(hostile)), JSON.stringify(wrong)).to.include({ code: "RPC_ANSWER_INVALID" });
    }
  });
});

describeOnBoth("fetchBaseFeeRange", (startChain) => {
  const fresh = freshRegistry(startChain);

  it("returns the highest base fee of the chain's blocks", async () => {
    for (const gwei of [7n, 90n, 20n]) {
      await fresh.call("hardhat_setNextBlockBaseFeePerGas", [`0x${(gwei * GWEI).toString(16)}`]);
      await fresh.call("evm_mine", []);
    }
    const chain = new Chain(fresh.call, FAST_RETRY);
    const { blocks, highest, to } = (await fetchBaseFeeRange(chain)) ?? {};
    expect(blocks).to.equal((await chain.block("latest")).number + 1);
    expect(highest).to.equal(90n * GWEI);
    expect(Math.abs(Number(to) - Date.now())).to.be.lessThan(YEAR * 1000);
  });
});
