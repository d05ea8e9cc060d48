import { expect } from "chai";
import { join } from "node:path";
import { creationCodeOf, estimateCost, makePlan, MemoryJournal, RecordTable } from "@keyroot/operator/publisher";
import type { PublishOptions } from "@keyroot/operator/publisher";
import type { RpcCall } from "keyroot/internal/transport";
import { Chain } from "../../../../packages/operator/src/publisher/chain/chain.ts";
import { feesOf, maxGasPriceOf } from "../../../../packages/operator/src/publisher/chain/fees.ts";
import { describeOnAnvil, startAnvil } from "../../../support/anvil/anvil.ts";
import { FAST_RETRY, type StartChain, startHardhat } from "../../../support/chain/freshRegistry.ts";
import { deployLocally } from "../../../support/chain/local.ts";
import { ARBITRUM_GAS_PER_BYTE, installFees, OP_FEES, removeFees } from "../../../support/chain/rollupFees.ts";
import { publishing } from "../../../support/publisher/publishing.ts";
import { sampleRecords } from "../../../support/samples.ts";
import { failure, never, temporaryFolder } from "../../../support/support.ts";
import { ENDLESS_MS } from "../../../support/endless.ts";

const GWEI = 10n ** 9n;
/** The size in bytes of a call of addMerkleTreeRoot with 40 user ids: the selector, three words and the ids. */
const CALLDATA_BYTES = 4 + 3 * 32 + 800;

function describeFees(startChain: StartChain, setCode: string): void {
  const { fresh, publishVia } = publishing(startChain);
  const folder = temporaryFolder();
  afterEach(() => removeFees(fresh.call, setCode));

  const estimate = async (users = 40, usersPerFile = 40) => {
    const registry = await fresh.connect();
    return estimateCost(await makePlan(RecordTable.of(sampleRecords(users)), registry, { usersPerFile }), registry);
  };
  const publish = (options: Partial<PublishOptions>, via?: RpcCall) => {
    const journal = new MemoryJournal();
    const limits = { maxFeePerGas: 20n * GWEI, maxCost: 10n ** 18n };
    const times = { stuckAfterMs: ENDLESS_MS };
    return {
      journal,
      publication: publishVia(via ?? fresh.call, sampleRecords(40), { journal, limits, times, ...options }),
    };
  };

  describe("data fees of OP-stack chains", () => {
    it("include the L1 fee and the operator fee", async () => {
      const before = await estimate();
      await installFees(fresh.call, "GasPriceOracle", setCode);
      const { gas, baseFeePerGas = 0n, priorityFee, dataFee, cost, costAtMost, dataGas } = await estimate();
      const gasCost = (price: bigint) => BigInt(gas) * price;
      const operatorFee = BigInt(gas) * OP_FEES.weiPerGas + OP_FEES.operatorConstant;
      const bytes = (dataFee - operatorFee) / OP_FEES.weiPerByte;
      // The transaction has the call, up to 120 bytes of other fields, and 68 bytes of signature.
      expect(Number(bytes)).to.be.within(CALLDATA_BYTES + 68, CALLDATA_BYTES + 68 + 120);
      expect([before.dataFee, dataGas]).to.deep.equal([0n, 0]);
      expect(cost).to.equal(gasCost(baseFeePerGas + priorityFee) + dataFee);
      expect(costAtMost).to.equal(gasCost(2n * baseFeePerGas + priorityFee) + 2n * dataFee);
    });

    it("contain no operator fee before the upgrade Isthmus", async () => {
      await installFees(fresh.call, "EarlyGasPriceOracle", setCode);
      const { dataFee } = await estimate();
      expect(dataFee % OP_FEES.weiPerByte).to.equal(0n);
      expect(dataFee > 0n).to.equal(true);
    });

    it("are extrapolated to transactions that were not estimated", async () => {
      await installFees(fresh.call, "EarlyGasPriceOracle", setCode);
      const one = await estimate(1, 1);
      const { estimated, transactions, dataFee } = await estimate(30, 1);
      expect([estimated, transactions]).to.deep.equal([25, 30]);
      expect(Math.abs(Number(dataFee) / (30 * Number(one.dataFee)) - 1)).to.be.lessThan(0.05);
    });

    it("prevent an access list that costs more than it saves", async () => {
      const before = await estimate();
      await installFees(fresh.call, "EarlyGasPriceOracle", setCode);
      const { accessList, first } = await estimate();
      expect([before.accessList, accessList]).to.deep.equal([true, false]);
      expect(first).to.deep.equal(before.first);
    });

    it("count towards the cost limit before anything is signed", async () => {
      await installFees(fresh.call, "GasPriceOracle", setCode);
      const limits = { maxFeePerGas: 20n * GWEI };
      const { journal, publication } = publish({ limits: { ...limits, maxCost: 10n ** 18n } });
      const { published } = await publication;
      const [attempt = never()] = journal.attempts();
      const execution = BigInt(attempt.gas) * ("gasPrice" in attempt.fees ? 0n : attempt.fees.maxFeePerGas);
      const operatorFee = BigInt(published[0]?.gasUsed ?? 0) * OP_FEES.weiPerGas;
      expect((attempt.dataFee ?? 0n) > 2n * (BigInt(CALLDATA_BYTES) * OP_FEES.weiPerByte + operatorFee)).to.equal(true);

      fresh.contract = await fresh.deploy(fresh.owner);
      const sent: unknown[] = [];
      const watching = fresh.at("eth_sendTransaction", (forward, params) => {
        sent.push(params);
        return forward();
      });
      const short = { ...limits, maxCost: execution + (attempt.dataFee ?? 0n) / 2n };
      const refused = await failure(publish({ limits: short }, watching).publication);
      expect(refused).to.include({ code: "COST_LIMIT_REACHED" });
      expect(sent).to.deep.equal([]);
    });

    it("count towards the cost limit of a deployment", async () => {
      await installFees(fresh.call, "GasPriceOracle", setCode);
      const chain = new Chain(fresh.call, FAST_RETRY);
      const price = { maxFeePerGas: 20n * GWEI };
      let sent = 0;
      const counting = fresh.at("eth_sendTransaction", (forward, _, time) => {
        sent = time;
        return forward();
      });
      const deployWithin = (maxCost: bigint) =>
        deployLocally(new Chain(counting, FAST_RETRY), join(folder.path, "deployments.json"), { ...price, maxCost });
      const call = { from: fresh.owner, data: creationCodeOf(fresh.owner) };
      const gas = BigInt((await fresh.call("eth_estimateGas", [call])) as string);
      const execution =
        gas *
        maxGasPriceOf(feesOf(await chain.fetchFeeData(await chain.block("latest")), price.maxFeePerGas) ?? never());
      const data = BigInt(call.data.length / 2) * OP_FEES.weiPerByte;
      expect(await failure(deployWithin(execution + data))).to.include({ code: "COST_LIMIT_REACHED" });
      expect(sent).to.equal(0);
      await deployWithin(2n * execution + 3n * data);
      expect(sent).to.equal(1);
    });

    it("cause an error if the endpoint does not return them", async () => {
      await installFees(fresh.call, "GasPriceOracle", setCode);
      const failing = fresh.at("eth_call", (forward, params) => {
        const [{ data = "" } = {}] = params as { data?: string }[];
        return data.startsWith("0x49948e0e") ? "0x" : forward();
      });
      const { publication } = publish({}, failing);
      expect(await failure(publication)).to.include({ code: "RPC_ANSWER_INVALID" });
    });

    it("are read from the transaction's receipt", async () => {
      const charging = fresh.at("eth_getTransactionReceipt", async (forward) => {
        const receipt = (await forward()) as object | null;
        return receipt && { ...receipt, l1Fee: "0x1234", operatorFeeScalar: "0x0", operatorFeeConstant: "0x7" };
      });
      const { published } = await publish({}, charging).publication;
      expect(published.map(({ dataFee }) => dataFee)).to.deep.equal([0x1234n + 7n]);
    });
  });

  describe("data fees of Arbitrum", () => {
    it("are part of the gas in estimates and gas limits", async () => {
      const { journal: without, publication: first } = publish({});
      await first;
      fresh.contract = await fresh.deploy(fresh.owner);
      await installFees(fresh.call, "NodeInterface", setCode);
      const { dataGas, dataFee } = await estimate();
      expect([dataGas, dataFee]).to.deep.equal([CALLDATA_BYTES * ARBITRUM_GAS_PER_BYTE, 0n]);
      const { journal, publication } = publish({});
      await publication;
      const { contract } = await deployLocally((await fresh.connect()).chain, join(folder.path, "deployments.json"));
      expect(contract).to.match(/^0x/);
      const [before, after] = [without, journal].map((one) => one.attempts()[0]?.gas ?? 0);
      expect(Number(after) - Number(before)).to.equal(CALLDATA_BYTES * ARBITRUM_GAS_PER_BYTE);
    });
  });
}

describe("on Hardhat's chain", () => {
  describeFees(startHardhat, "hardhat_setCode");
});

describeOnAnvil("in Optimism mode", function (this: Mocha.Suite) {
  describeFees(() => startAnvil("--optimism"), "anvil_setCode");
});
