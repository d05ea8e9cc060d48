/** The fees with which stuck transactions are sent again, within the limits of the run. */
import type { Attempt } from "../journal/journal.ts";
import {
  type FeeData,
  type Fees,
  feesOf,
  gasPriceOf,
  isWithinLimits,
  maxGasPriceOf,
  priorityFeeOf,
} from "../chain/fees.ts";
import type { CostBudget } from "./costLimits.ts";
import { describeGasPrice, feeTooHigh } from "./sendErrors.ts";
import type { SendOptions } from "./sendOptions.ts";

/** The option that limits the priority fee, for messages (`maxPriorityFeeOf`). */
const PRIORITY_FEE_SETTING = "maxPriorityFeePerGas, by default a quarter of --max-fee";

/** Current prices, and the limits of a run, in wei per unit of gas. */
export interface Prices {
  feeData: FeeData;
  /** The number of the block with these prices. */
  block: number;
  maxFee: bigint;
  maxPriorityFee: bigint;
}

/**
 * Returns the fees for sending a stuck transaction again. The fees are higher if the transaction offers too little and
 * the limits allow higher fees.
 * @param mustReplace true if blocks were made without the transaction, or if its gas limit is too low
 * @returns the fees, and whether a limit prevented higher fees
 */
export function replacementFees(
  attempt: Attempt,
  mustReplace: boolean,
  { feeData, maxFee, maxPriorityFee }: Prices,
  budget: CostBudget | undefined,
): { fees: Fees; isLimited: boolean } {
  const { fees } = attempt;
  const offersTooLittle = mustReplace || maxGasPriceOf(fees) < gasPriceOf(feeData);
  if (offersTooLittle) {
    const bumped = bumpFees(fees, feeData, maxFee, maxPriorityFee);
    if (bumped && budget?.exceededBy({ ...attempt, fees: bumped }) === undefined)
      return { fees: bumped, isLimited: false };
  }
  // The journal may contain fees from a run with higher limits. Use the recorded fees if the current limits allow no
  // other fees, because a transaction must use the nonce.
  const allowed = isWithinLimits(fees, maxFee, maxPriorityFee) ? fees : (feesOf(feeData, maxFee) ?? fees);
  return { fees: allowed, isLimited: offersTooLittle };
}

/**
 * Checks the fees of a transaction. The journal may contain higher fees, from an earlier run with other limits or from an
 * attacker.
 * @throws TransportError FEE_TOO_HIGH
 */
export function checkFees(
  fees: Fees,
  { maxFeePerGas, maxPriorityFeePerGas = maxFeePerGas }: Pick<SendOptions, "maxFeePerGas" | "maxPriorityFeePerGas">,
): void {
  const [maxFee, priorityFee] = [maxGasPriceOf(fees), priorityFeeOf(fees)];
  if (maxFeePerGas !== undefined && maxFee > maxFeePerGas)
    throw feeTooHigh(`The plan's recorded transaction offers ${describeGasPrice(maxFee)}`, maxFeePerGas, maxFee);
  if (maxPriorityFeePerGas === undefined || priorityFee <= maxPriorityFeePerGas) return;
  const problem = `The plan's recorded transaction offers a priority fee of ${describeGasPrice(priorityFee)}`;
  throw feeTooHigh(problem, maxPriorityFeePerGas, priorityFee, PRIORITY_FEE_SETTING);
}

/**
 * Returns the fees of a transaction that replaces a pending transaction. Each fee is at least 12.5% higher than the
 * pending transaction's fee, and at least as high as for a new transaction. Geth rejects a replacement with a fee that
 * rises by less than 10% (`txpool.pricebump`).
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

function plusAnEighth(fee: bigint): bigint {
  return fee + fee / 8n + 1n;
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
