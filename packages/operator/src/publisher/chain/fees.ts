import { toQuantity } from "keyroot/internal/ethereum";

/**
 * The fees of a transaction in wei per unit of gas. A transaction on a chain without a base fee (EIP-1559) has only a
 * gas price.
 */
export type Fees = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint } | { gasPrice: bigint };

/** The gas prices at a block, in wei per unit of gas. */
export interface FeeData {
  /** The base fee. Undefined on chains without a base fee. */
  baseFeePerGas: bigint | undefined;
  /**
   * The part of the price that the producer of the block receives. On chains without a base fee, it is the whole gas
   * price.
   */
  priorityFee: bigint;
}

/**
 * The factor for the base fee in a transaction's maximum fee. Within six full blocks, the base fee roughly doubles
 * (EIP-1559). A transaction that offers twice the base fee therefore stays valid for about six blocks.
 */
const BASE_FEE_FACTOR = 2n;

/** The default limit of the priority fee is the maximum fee divided by this number. */
const MAX_FEE_PER_PRIORITY_FEE = 4n;

/**
 * Returns the limit of the priority fee in wei per unit of gas.
 * @param maxPriorityFee the limit, if the operator has set one
 */
export function maxPriorityFeeOf(maxFee: bigint, maxPriorityFee: bigint | undefined): bigint {
  return maxPriorityFee ?? maxFee / MAX_FEE_PER_PRIORITY_FEE;
}

/**
 * Returns the same prices with a priority fee of at most `maxPriorityFee`. On chains without a base fee, the prices are
 * returned unchanged.
 */
export function limitPriorityFee(feeData: FeeData, maxPriorityFee: bigint): FeeData {
  if (feeData.baseFeePerGas === undefined) return feeData;
  return { ...feeData, priorityFee: min(feeData.priorityFee, maxPriorityFee) };
}

/** Returns the current price per unit of gas, in wei. */
export function gasPriceOf({ baseFeePerGas = 0n, priorityFee }: FeeData): bigint {
  return baseFeePerGas + priorityFee;
}

/** Returns the fees that a new transaction offers if there is no limit. */
export function unlimitedFeesOf({ baseFeePerGas, priorityFee }: FeeData): Fees {
  if (baseFeePerGas === undefined) return { gasPrice: priorityFee };
  return { maxFeePerGas: BASE_FEE_FACTOR * baseFeePerGas + priorityFee, maxPriorityFeePerGas: priorityFee };
}

/**
 * Returns the fees for a new transaction.
 * @param maxFee the maximum wei per unit of gas
 * @returns undefined if gas currently costs more than `maxFee`
 */
export function feesOf(feeData: FeeData, maxFee: bigint): Fees | undefined {
  if (gasPriceOf(feeData) > maxFee) return undefined;
  const fees = unlimitedFeesOf(feeData);
  return "gasPrice" in fees ? fees : { ...fees, maxFeePerGas: min(fees.maxFeePerGas, maxFee) };
}

/** Converts fees to the format of JSON-RPC. */
export function feesToHex(fees: Fees): Record<string, string> {
  return Object.fromEntries(Object.entries(fees).map(([name, wei]: [string, bigint]) => [name, toQuantity(wei)]));
}

/** Returns the maximum price that these fees pay per unit of gas, in wei. */
export function maxGasPriceOf(fees: Fees): bigint {
  return "gasPrice" in fees ? fees.gasPrice : fees.maxFeePerGas;
}

/** Returns the priority fee in wei per unit of gas, or 0 on chains without a base fee. */
export function priorityFeeOf(fees: Fees): bigint {
  return "gasPrice" in fees ? 0n : fees.maxPriorityFeePerGas;
}

export function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

export function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/** Returns whether the fees are within both limits, which are in wei per unit of gas. */
export function isWithinLimits(fees: Fees, maxFee: bigint, maxPriorityFee: bigint): boolean {
  return maxGasPriceOf(fees) <= maxFee && priorityFeeOf(fees) <= maxPriorityFee;
}
