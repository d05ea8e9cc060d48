import { priceOf, offer, topOf } from "../transactions/fees.ts";
import { type Batch, countUsers, type Plan } from "./plan.ts";
import type { Registry } from "../chain/registry.ts";

/** What a plan would cost at one block. Gas in units, prices in wei a unit, costs in wei. */
export interface Quote {
  /** The block that it is about. */
  block: number;
  users: number;
  transactions: number;
  /** The plan's first transaction, as the node estimates it. */
  first: GasEstimate;
  /** How many transactions were estimated; what the others use follows from those, by their users. */
  estimated: number;
  /** Whether the transactions list the slots that they touch (EIP-2930): where the first is cheaper that way. */
  accessList: boolean;
  gas: number;
  gasPerUser: number;
  baseFeePerGas: bigint | undefined;
  tip: bigint;
  /** At the price of this block. */
  cost: bigint;
  /** At the highest price that transactions would offer now. */
  costAtMost: bigint;
}

/** A transaction's gas without and with a list of the slots that it touches (EIP-2930). */
export interface GasEstimate {
  plain: number;
  withAccessList: number;
}

/** A plan of more transactions is estimated by as many, evenly spread. */
const MOST_ESTIMATES = 25;

/** @param plan with one batch at the least @throws TransportError */
export async function quote({ batches }: Plan, registry: Registry): Promise<Quote> {
  const { chain } = registry;
  const [firstBatch] = batches;
  if (firstBatch === undefined) throw new RangeError("There is nothing to quote.");
  const block = await chain.block("latest");
  const market = await chain.market(block);
  const first = await estimateBoth(registry, firstBatch);
  const accessList = first.withAccessList < first.plain;
  const sample = evenlySpread(batches, MOST_ESTIMATES);
  let sampledGas = 0;
  for (const batch of sample) sampledGas += await registry.estimateGas(registry.addition(batch, accessList));
  const users = countUsers(batches);
  const gas = sample.length === batches.length ? sampledGas : Math.round((sampledGas / countUsers(sample)) * users);
  const top = offer(market, 2n ** 256n);
  return {
    block: block.number,
    users,
    transactions: batches.length,
    first,
    estimated: sample.length,
    accessList,
    gas,
    gasPerUser: Math.round((gas / users) * 10) / 10,
    ...market,
    cost: BigInt(gas) * priceOf(market),
    costAtMost: BigInt(gas) * (top === undefined ? 0n : topOf(top)),
  };
}

/** What a batch's transaction uses now, both ways. */
export async function estimateBoth(registry: Registry, batch: Batch): Promise<GasEstimate> {
  const plain = await registry.estimateGas(registry.addition(batch, false));
  return { plain, withAccessList: await registry.estimateGas(registry.addition(batch, true)) };
}

/** Items from the first to the last, as many as wanted. */
function evenlySpread<T>(items: readonly T[], wanted: number): T[] {
  if (items.length <= wanted) return [...items];
  const step = (items.length - 1) / (wanted - 1);
  return Array.from({ length: wanted }, (_, i) => items[Math.round(i * step)]).filter((item) => item !== undefined);
}
