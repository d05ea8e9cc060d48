import { ArgumentError } from "keyroot/internal/errors";
import { describeValue } from "keyroot/internal/input";
import { type BaseFeeRange, fetchBaseFeeRange } from "../publisher/chain/baseFeeRange.ts";
import { gasPriceOf } from "../publisher/chain/fees.ts";
import { estimateCost, type CostEstimate } from "../publisher/plan/estimateCost.ts";
import { nextForkGas, type NextForkGas } from "../publisher/plan/nextFork.ts";
import type { ArgsOf } from "./commandDefinitions.ts";
import { compareChains } from "./compareChains.ts";
import type { Host, Outcome } from "./host.ts";
import { loadRecords, skippedLine } from "./inputFiles.ts";
import { describeEther, describeGwei, describeMoney } from "./describeAmounts.ts";
import { planRecords } from "./planRecords.ts";
import { plural } from "../plural.ts";
import { Progress } from "./progress.ts";
import { ChainAndFiles } from "./chainAndFiles.ts";

/** `keyroot estimate`: estimates the cost of publishing records at current prices. */
export default async function estimate(args: ArgsOf<"estimate">, host: Host): Promise<Outcome> {
  const { usersPerFile, allowHttp, compare } = args;
  const ethPrice = args.ethPrice === undefined ? undefined : toPrice(args.ethPrice);
  const money = (wei: bigint) => (ethPrice === undefined ? undefined : moneyOf(wei, ethPrice));
  if (compare !== undefined) {
    using progress = new Progress();
    const { records } = await loadRecords(args, progress);
    return await compareChains(records, { compare, usersPerFile, allowHttp, money });
  }
  const chainAndFiles = await ChainAndFiles.resolve(args, host);
  const { registry, plan, alreadyPublished, bad } = await planRecords(args, chainAndFiles);
  if (plan.batches.length === 0) {
    return {
      json: { users: 0, transactions: 0, alreadyPublished, skipped: bad },
      text: [`Nothing to publish, ${plural(alreadyPublished, "user")} already published.`, ...skippedLine(bad)].join(
        "\n",
      ),
    };
  }
  const costs = await estimateCost(plan, registry);
  const next = nextForkGas(plan.chainId, costs);
  const range = args.lastYear ? await fetchBaseFeeRange(registry.chain) : undefined;
  const { baseFeePerGas, priorityFee, dataFee, cost, costAtMost, ...counts } = costs;
  return {
    json: {
      ...counts,
      alreadyPublished,
      fileBytes: plan.batches.reduce((sum, { fileBytes }) => sum + fileBytes, 0),
      baseFeePerGas: baseFeePerGas === undefined ? undefined : String(baseFeePerGas),
      priorityFee: String(priorityFee),
      dataFeeWei: String(dataFee),
      costWei: String(cost),
      costAtMostWei: String(costAtMost),
      lastYear: range && rangeInJson(range),
      nextFork: next,
      money: money(cost),
      moneyAtMost: money(costAtMost),
      skipped: bad,
    },
    text: [
      ...describe(costs, alreadyPublished, money),
      ...describeYear(range),
      ...describeNext(costs, next),
      ...skippedLine(bad),
    ].join("\n"),
  };
}

function describe(costs: CostEstimate, alreadyPublished: number, money: (wei: bigint) => number | undefined): string[] {
  const { block, users, transactions, first, estimated, accessList, gas, gasPerUser, priorityFee } = costs;
  const { baseFeePerGas, stateGas, dataGas, dataFee, cost, costAtMost } = costs;
  const inMoney = (wei: bigint) => {
    const amount = money(wei);
    return amount === undefined ? "" : `, ${describeMoney(amount)} at --eth-price`;
  };
  const how =
    estimated === transactions ? "estimated by the node" : `extrapolated from ${estimated} that the node estimated`;
  const price =
    baseFeePerGas === undefined
      ? describeGwei(priorityFee)
      : `${describeGwei(baseFeePerGas)} base fee and ${describeGwei(priorityFee)} priority fee`;
  return [
    `${plural(users, "user")} in ${plural(transactions, "transaction")}, ${alreadyPublished} already published.`,
    `  gas     ${gas}, ${gasPerUser} per user, ${how}`,
    `  first   ${first.plain} gas, ${first.withAccessList} with an access list, which is ${accessList ? "" : "not "}used`,
    `  price   ${price} per unit of gas, at block ${block}`,
    ...(stateGas > 0 ? [splitLine(gas, stateGas)] : []),
    ...(dataGas > 0 ? [`  data    ${dataGas} of the gas pays for the transactions' bytes`] : []),
    ...(dataFee > 0n ? [`  data    ${describeEther(dataFee)}${inMoney(dataFee)}, charged in addition to gas`] : []),
    `  cost    ${describeEther(cost)}${inMoney(cost)}`,
    `  at most ${describeEther(costAtMost)}${inMoney(costAtMost)}, at the highest fee that transactions would offer now${dataFee > 0n ? ", and twice the data fee" : ""}`,
  ];
}

function describeNext(costs: CostEstimate, next: NextForkGas | undefined): string[] {
  if (next === undefined) return [];
  const { fork, gas, stateGas, gasAtMost } = next;
  const [cost, atMost] = [gas, gasAtMost].map((amount) =>
    describeEther(BigInt(amount) * gasPriceOf(costs) + costs.dataFee),
  );
  return [
    `  later   ${gas} to ${gasAtMost} gas, ${cost} to ${atMost} at this price, after the chain's next fork (${fork})`,
    splitLine(gas, stateGas),
  ];
}

/**
 * Describes the two kinds of gas since the fork Amsterdam. The limit per transaction (EIP-7825) applies only to regular gas.
 */
function splitLine(gas: number, stateGas: number): string {
  return `          ${stateGas} of it state gas for new storage, ${gas - stateGas} regular gas`;
}

function describeYear(range: BaseFeeRange | undefined): string[] {
  if (range === undefined) return [];
  const { blocks, from, to, lowest, median, highest } = range;
  const [since, until] = [from, to].map((time) => new Date(time).toISOString().slice(0, 10));
  return [
    `  year    base fee from ${describeGwei(lowest)} to ${describeGwei(highest)}, median ${describeGwei(median)}, in ${plural(blocks, "block")} from ${since} to ${until}`,
  ];
}

function rangeInJson({ blocks, from, to, lowest, median, highest }: BaseFeeRange): object {
  const times = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
  return { blocks, ...times, lowestWei: String(lowest), medianWei: String(median), highestWei: String(highest) };
}

function toPrice(text: string): number {
  if (/^\d{1,9}(\.\d{1,9})?$/.test(text)) return Number(text);
  const message = `--eth-price must be a number such as 3000, not ${describeValue(text)}.`;
  throw new ArgumentError("ARGUMENT_INVALID", message);
}

/**
 * Converts wei to a currency, rounded to a hundredth, or to two significant digits below 1.
 * @param ethPrice the price of one ETH in this currency
 */
function moneyOf(wei: bigint, ethPrice: number): number {
  const amount = (Number(wei) / 1e18) * ethPrice;
  return Number(amount < 1 ? amount.toPrecision(2) : amount.toFixed(2));
}
