/** The fees with which stuck transactions are sent again, within the limits of the run. */
import type { Attempt } from "../journal/journal.ts";
import {
  type FeeData,
  type Fees,
  feesOf,
  gasPriceOf,
  isWithinLimits,
  limitPriorityFee,
  max,
  maxGasPriceOf,
  min,
} from "../chain/fees.ts";
import type { Chain } from "../chain/chain.ts";
import type { CostBudget, FeeLimits } from "./costLimits.ts";

/** The default fee limit, as a multiple of the current gas price. */
const MAX_FEE_FACTOR = 10n;

/** Current prices, and the limits of a run, in wei per unit of gas. */
export interface Prices {
  feeData: FeeData;
  /** The number of the block with these prices. */
  block: number;
  maxFee: bigint;
  maxPriorityFee: bigint;
}

/** Reads the current prices. Without a limit, the limit is ten times the current price. */
export async function fetchPrices(chain: Chain, limits: FeeLimits): Promise<Prices> {
  const { maxFeePerGas, maxPriorityFeePerGas } = limits;
  const block = await chain.block("latest");
  const fees = await chain.fetchFeeData(block);
  const feeData = limitPriorityFee(fees, maxPriorityFeePerGas ?? maxFeePerGas ?? fees.priorityFee);
  const maxFee = maxFeePerGas ?? MAX_FEE_FACTOR * gasPriceOf(feeData);
  return { feeData, block: block.number, maxFee, maxPriorityFee: maxPriorityFeePerGas ?? maxFee };
}

/**
 * Returns the fees for sending a transaction again. If it offers too little and the limits allow more, the fees are
 * higher than before.
 * @param reason `stuck` if blocks were made without the transaction, or if its gas limit is too low. `underpriced` if a
 *   node rejected it because it offers too little. Undefined otherwise
 * @returns the fees, and whether a limit prevented higher fees
 */
export function replacementFees(
  attempt: Attempt,
  reason: "stuck" | "underpriced" | undefined,
  prices: Prices,
  budget: CostBudget | undefined,
): { fees: Fees; isLimited: boolean } {
  const { fees } = attempt;
  const { feeData, maxFee, maxPriorityFee } = prices;
  const offersTooLittle = reason !== undefined || maxGasPriceOf(fees) < gasPriceOf(feeData);
  if (offersTooLittle) {
    const bumped =
      bumpFees(fees, feeData, maxFee, maxPriorityFee) ??
      (reason === "underpriced" ? raiseFees(fees, prices) : undefined);
    if (bumped && budget?.exceededBy({ ...attempt, fees: bumped }) === undefined)
      return { fees: bumped, isLimited: false };
  }
  // The journal may contain fees from a run with higher limits. Replace such fees by current fees, unless gas now costs
  // more than the limits allow.
  const allowed = isWithinLimits(fees, maxFee, maxPriorityFee) ? fees : (feesOf(feeData, maxFee) ?? fees);
  return { fees: allowed, isLimited: offersTooLittle };
}

/**
 * Returns the fees of a transaction that replaces a pending one. Each fee is at least 12.5% higher than before, and at
 * least as high as for a new transaction. Geth rejects a replacement whose fees rise by less than 10%
 * (`txpool.pricebump`).
 * @returns undefined if a limit is too low for these fees
 */
export function bumpFees(
  fees: Fees,
  feeData: FeeData,
  maxFee: bigint,
  maxPriorityFee: bigint = maxFee,
): Fees | undefined {
  const current = feesOf(feeData, maxFee);
  if (current === undefined) return undefined;
  const bumped =
    "gasPrice" in fees
      ? { gasPrice: max(plusAnEighth(fees.gasPrice), maxGasPriceOf(current)) }
      : {
          maxFeePerGas: max(plusAnEighth(fees.maxFeePerGas), maxGasPriceOf(current)),
          maxPriorityFeePerGas: max(plusAnEighth(fees.maxPriorityFeePerGas), feeData.priorityFee),
        };
  if ("maxPriorityFeePerGas" in bumped && bumped.maxPriorityFeePerGas > maxPriorityFee) return undefined;
  return maxGasPriceOf(bumped) > maxFee ? undefined : bumped;
}

/**
 * Raises the fees of a transaction that no node has, up to the limits. Because no node has to replace an earlier
 * transaction, the fees may rise by less than an eighth.
 * @returns undefined if no fee can rise
 */
function raiseFees(fees: Fees, { maxFee, maxPriorityFee }: Prices): Fees | undefined {
  if (!isWithinLimits(fees, maxFee, maxPriorityFee)) return undefined;
  const price = min(plusAnEighth(maxGasPriceOf(fees)), maxFee);
  if ("gasPrice" in fees) return price > fees.gasPrice ? { gasPrice: price } : undefined;
  const tip = min(plusAnEighth(fees.maxPriorityFeePerGas), min(maxPriorityFee, price));
  const canRise = price > fees.maxFeePerGas || tip > fees.maxPriorityFeePerGas;
  return canRise ? { maxFeePerGas: price, maxPriorityFeePerGas: tip } : undefined;
}

function plusAnEighth(fee: bigint): bigint {
  return fee + fee / 8n + 1n;
}
