import { worstDataFeeOf } from "../chain/dataFee.ts";
import { type FeeData, gasPriceOf, maxGasPriceOf, unlimitedFeesOf } from "../chain/fees.ts";
import type { GasEstimate, Registry } from "../chain/registry.ts";
import { countUsers, type Plan } from "./plan.ts";

/** The cost of a plan at one block: amounts of gas, prices in wei per unit of gas, and costs in wei. */
export interface CostEstimate extends FeeData {
  /** The number of the block at which the cost was estimated. */
  block: number;
  users: number;
  transactions: number;
  /** The node's gas estimates for the first transaction of the plan. */
  first: GasEstimate;
  /**
   * The number of transactions whose gas the node estimated. For the other transactions, gas is calculated from their
   * numbers of users.
   */
  estimated: number;
  /** True if the first transaction is cheaper with an access list (EIP-2930). */
  accessList: boolean;
  gas: number;
  gasPerUser: number;
  /** On Arbitrum, the part of the gas that pays for bytes. */
  dataGas: number;
  /** The fee for the transactions' bytes on OP-stack chains in wei, in addition to gas. 0 on other chains. */
  dataFee: bigint;
  /** The cost at the prices of this block, including the data fee. */
  cost: bigint;
  /** The maximum cost: the gas at the highest price that transactions would offer now, plus twice the data fee. */
  costAtMost: bigint;
}

/** The maximum number of transactions to estimate, which are evenly spread over the plan. */
const MAX_ESTIMATES = 25;

/**
 * Estimates the current cost of a plan. Nothing is sent, and no key is needed.
 * @param plan a plan with at least one batch
 * @throws RangeError for a plan without batches; TransportError the errors of `chain`, for example RPC_ERROR if the
 *   node rejects a transaction
 * @example
 * ```ts
 * const plan = await makePlan(records, registry, { usersPerFile: 700 });
 * const { gas, cost } = await estimateCost(plan, registry);
 * console.log(`${gas} gas, ${cost} wei`);
 * ```
 */
export async function estimateCost({ batches }: Plan, registry: Registry): Promise<CostEstimate> {
  const { chain } = registry;
  const [firstBatch] = batches;
  if (firstBatch === undefined) throw new RangeError("The plan has no batches to estimate.");
  const block = await chain.block("latest");
  const feeData = await chain.fetchFeeData(block);
  const first = await registry.estimateAddRoot(firstBatch);
  const accessList = await registry.isAccessListCheaper(firstBatch, first, feeData);
  const sample = evenlySpread(batches, MAX_ESTIMATES);
  const fees = unlimitedFeesOf(feeData);
  const sampled = { gas: 0, dataGas: 0, dataFee: 0n };
  for (const batch of sample) {
    const call = registry.addRootCall(batch, accessList);
    const gas = await registry.estimateGas(call);
    const data = await registry.fetchDataFee(call, gas, fees);
    sampled.gas += gas;
    sampled.dataGas += data.gas;
    sampled.dataFee += data.wei;
  }
  const users = countUsers(batches);
  const sampledUsers = countUsers(sample);
  const gas = Math.round((sampled.gas / sampledUsers) * users);
  const dataGas = Math.round((sampled.dataGas / sampledUsers) * users);
  const dataFee = (sampled.dataFee * BigInt(users)) / BigInt(sampledUsers);
  const transactions = batches.length;
  return {
    block: block.number,
    users,
    transactions,
    first,
    estimated: sample.length,
    accessList,
    gas,
    gasPerUser: Math.round((gas / users) * 10) / 10,
    dataGas,
    ...feeData,
    dataFee,
    cost: BigInt(gas) * gasPriceOf(feeData) + dataFee,
    costAtMost: BigInt(gas) * maxGasPriceOf(fees) + worstDataFeeOf({ wei: dataFee, gas: 0 }),
  };
}

/** Picks `count` items that are evenly spread from the first to the last. Returns all items if there are fewer. */
function evenlySpread<T>(items: readonly T[], count: number): T[] {
  if (items.length <= count) return [...items];
  const step = (items.length - 1) / (count - 1);
  return Array.from({ length: count }, (_, i) => items[Math.round(i * step)]).filter((item) => item !== undefined);
}
