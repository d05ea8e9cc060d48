import { argumentInvalid } from "../errors.ts";
import { describeValue } from "keyroot/internal/input";
import { plural } from "../plural.ts";
import type { CostEstimate } from "../publisher/plan/estimateCost.ts";
import { command, json, text } from "./defineCommand.ts";
import { chain, merkleUrl, recordFiles, REGISTRY } from "./options.ts";

export const estimate = command(
  {
    summary: "Estimate the current cost of publishing users' keys",
    needs: () => REGISTRY,
    options: {
      ...recordFiles,
      ethPrice: text(
        "price",
        "Price of one ETH in a currency of your choice, in which the command then also shows the cost",
      ),
      ...chain,
      merkleUrl,
      json,
    },
  },
  async (args, host) => {
    const { estimateCost } = await import("../publisher/plan/estimateCost.ts");
    const { ChainAndFiles } = await import("./chainAndFiles.ts");
    const { planRecords } = await import("./planRecords.ts");
    const { describePublished } = await import("./publishResult.ts");
    const ethPrice = args.ethPrice === undefined ? undefined : toPrice(args.ethPrice);
    const money = (wei: bigint) => (ethPrice === undefined ? undefined : moneyOf(wei, ethPrice));
    const chainAndFiles = await ChainAndFiles.resolve(args, host);
    const { registry, plan, alreadyPublished, differing, error } = await planRecords(args, chainAndFiles);
    const published = describePublished(alreadyPublished, differing.length);
    if (plan.batches.length === 0) {
      return {
        json: { users: 0, transactions: 0, alreadyPublished, differing, error },
        text: `Nothing to publish, ${published}`,
      };
    }
    const costs = await estimateCost(plan, registry);
    const { baseFeePerGas, priorityFee, dataFee, cost, costAtMost, ...counts } = costs;
    return {
      json: {
        ...counts,
        alreadyPublished,
        differing,
        fileBytes: plan.batches.reduce((sum, { fileBytes }) => sum + fileBytes, 0),
        baseFeePerGas: baseFeePerGas === undefined ? undefined : String(baseFeePerGas),
        priorityFee: String(priorityFee),
        dataFeeWei: String(dataFee),
        costWei: String(cost),
        costAtMostWei: String(costAtMost),
        money: money(cost),
        moneyAtMost: money(costAtMost),
        error,
      },
      text: (await describe(costs, published, money)).join("\n"),
    };
  },
);

async function describe(
  costs: CostEstimate,
  published: string,
  money: (wei: bigint) => number | undefined,
): Promise<string[]> {
  const { describeEther, describeGwei, describeMoney } = await import("./describeAmounts.ts");
  const { block, users, transactions, first, estimated, accessList, gas, gasPerUser, priorityFee } = costs;
  const { baseFeePerGas, dataGas, dataFee, cost, costAtMost } = costs;
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
    `${plural(users, "user")} in ${plural(transactions, "transaction")}, ${published}`,
    `  gas     ${gas}, ${gasPerUser} per user, ${how}`,
    `  first   ${first.plain} gas, ${first.withAccessList} with an access list, which is ${accessList ? "" : "not "}used`,
    `  price   ${price} per unit of gas, at block ${block}`,
    ...(dataGas > 0 ? [`  data    ${dataGas} of the gas pays for the transactions' bytes`] : []),
    ...(dataFee > 0n ? [`  data    ${describeEther(dataFee)}${inMoney(dataFee)}, charged in addition to gas`] : []),
    `  cost    ${describeEther(cost)}${inMoney(cost)}`,
    `  at most ${describeEther(costAtMost)}${inMoney(costAtMost)}, at the highest fee that transactions would offer now${dataFee > 0n ? ", and twice the data fee" : ""}`,
  ];
}

function toPrice(text: string): number {
  if (/^\d{1,9}(\.\d{1,9})?$/.test(text)) return Number(text);
  throw argumentInvalid(`--eth-price must be a number such as 3000, not ${describeValue(text)}.`);
}

/**
 * Converts wei to an amount of a currency. It is rounded to hundredths, or to two significant digits if it is below 1.
 * @param ethPrice the price of one ETH in this currency
 */
function moneyOf(wei: bigint, ethPrice: number): number {
  const amount = (Number(wei) / 1e18) * ethPrice;
  return Number(amount < 1 ? amount.toPrecision(2) : amount.toFixed(2));
}
