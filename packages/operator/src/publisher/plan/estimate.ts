import { checkAllBuiltins } from "keyroot/input";
import { gasPriceOf, maxGasPriceOf, feesOf } from "../chain/fees.ts";
import type { GasEstimate, Registry } from "../chain/registry.ts";
import { countUsers, type Plan } from "./plan.ts";

/** The cost of a plan at one block. Gas is in units, prices in wei per unit, costs in wei. */
export interface CostEstimate {
  /** The number of the block that the estimate is for. */
  block: number;
  users: number;
  transactions: number;
  /** The node's estimates of the plan's first transaction. */
  first: GasEstimate;
  /** Number of transactions that the node estimated. The gas of the others is extrapolated from their number of users. */
  estimated: number;
  /** Access lists in transactions (EIP-2930): true if the first is cheaper with one. */
  accessList: boolean;
  gas: number;
  gasPerUser: number;
  /** Undefined on chains without a base fee. */
  baseFeePerGas: bigint | undefined;
  priorityFee: bigint;
  /** The cost at this block's gas price. */
  cost: bigint;
  /** The cost at the highest gas price that transactions would offer now. */
  costAtMost: bigint;
}

/** Maximum number of estimated transactions, evenly spread over the plan. */
const MAX_ESTIMATES = 25;

/**
 * Estimates what a plan would cost now. Sends nothing, and needs no key.
 * @param plan with at least one batch
 * @throws RangeError for a plan without batches; TransportError as the chain, RPC_ERROR also if the node rejects a transaction
 * @example
 * ```ts
 * const plan = await makePlan(records, registry, { usersPerFile: 700 });
 * const { gas, cost } = await estimateCost(plan, registry);
 * console.log(`${gas} gas, ${cost} wei`);
 * ```
 */
export async function estimateCost({ batches }: Plan, registry: Registry): Promise<CostEstimate> {
  checkAllBuiltins();
  const { chain } = registry;
  const [firstBatch] = batches;
  if (firstBatch === undefined) throw new RangeError("The plan has no batches to estimate.");
  const block = await chain.block("latest");
  const feeData = await chain.fetchFeeData(block);
  const first = await registry.estimateAddRoot(firstBatch);
  const accessList = first.withAccessList < first.plain;
  const sample = evenlySpread(batches, MAX_ESTIMATES);
  let sampledGas = 0;
  for (const batch of sample) sampledGas += await registry.estimateGas(registry.addRootCall(batch, accessList));
  const users = countUsers(batches);
  const gas = sample.length === batches.length ? sampledGas : Math.round((sampledGas / countUsers(sample)) * users);
  const fees = feesOf(feeData, 2n ** 256n);
  return {
    block: block.number,
    users,
    transactions: batches.length,
    first,
    estimated: sample.length,
    accessList,
    gas,
    gasPerUser: Math.round((gas / users) * 10) / 10,
    ...feeData,
    cost: BigInt(gas) * gasPriceOf(feeData),
    costAtMost: BigInt(gas) * (fees === undefined ? 0n : maxGasPriceOf(fees)),
  };
}

/** Picks `count` items, evenly spread from the first to the last; all items if there are fewer. */
function evenlySpread<T>(items: readonly T[], count: number): T[] {
  if (items.length <= count) return [...items];
  const step = (items.length - 1) / (count - 1);
  return Array.from({ length: count }, (_, i) => items[Math.round(i * step)]).filter((item) => item !== undefined);
}
